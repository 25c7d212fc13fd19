-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Look at a resource without changing anything.
--
-- KEYS  lock, counter, readers, waiters
-- ARGV  tag (echoed)
-- Reply {"inspect", "", tag, state, fence, holder, left_ms, counter, readers,
--        waited_for, counter_left_ms}
--       state: "free", "held" (by one of our locks), "shared" (by so many
--       readers) or "foreign"
--       counter: "" when there is none, "bad" when it is no counter of ours
--       waited_for: "1" when somebody asked to wait until now or later
--       counter_left_ms: until it goes when nobody takes the lock; "0": never

local MAX = '9007199254740991' -- 2^53 - 1
local tag = ARGV[1] or ''

local function number(text)
    return text and text:find('^[1-9]%d*$') and
        (#text < #MAX or (#text == #MAX and text <= MAX))
end

-- Value, or false when there is none; then whether it is of another type;
-- then an error that is none of ours.
local function get(key)
    local value = redis.pcall('GET', key)
    if type(value) ~= 'table' then
        return value
    elseif value.err:find('WRONGTYPE', 1, true) then
        return false, true
    end
    return false, false, value
end

local lock, other, failed = get(KEYS[1])
if failed then
    return failed
end
local counter, strange
counter, strange, failed = get(KEYS[2])
if failed then
    return failed
end
local goes = 0
if strange or (counter and not number(counter)) then
    counter = 'bad'
elseif counter then
    goes = math.max(redis.call('PTTL', KEYS[2]), 0)
end

local state, fence, holder, left, readers = 'free', '', '', '0', '0'
if lock == 'read' then
    local time = redis.call('TIME')
    state = 'shared'
    readers = tostring(redis.call('ZCOUNT', KEYS[3],
        '(' .. time[1] .. string.format('%03d', math.floor(time[2] / 1000)),
        '+inf'))
elseif lock and not lock:find('^wake:[1-9]%d*$') then
    fence, holder = lock:match('^(%d+):([0-9a-f]+)$')
    state = 'held'
    if not number(fence) or #holder ~= 32 then
        other = true
    end
end
if other then
    state, fence, holder = 'foreign', '', ''
end
if state ~= 'free' then
    left = tostring(redis.call('PTTL', KEYS[1]))
end
return {'inspect', '', tag, state, fence, holder, left, counter or '',
    readers, tostring(redis.call('EXISTS', KEYS[4])),
    string.format('%.0f', goes)}
