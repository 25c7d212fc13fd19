-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Look at a resource without changing anything.
--
-- KEYS  lock, counter
-- ARGV  tag (echoed)
-- Reply {"inspect", "", tag, state, fence, holder, left_ms, counter}
--       state: "free", "held" (by one of our locks) or "foreign"
--       counter: "" when there is none, "bad" when it is no counter of ours

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
if strange or (counter and (not number(counter) or
                            redis.call('PTTL', KEYS[2]) ~= -1)) then
    counter = 'bad'
end

local state, fence, holder, left = 'free', '', '', '0'
if lock and not lock:find('^wake:[1-9]%d*$') then
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
return {'inspect', '', tag, state, fence, holder, left, counter or ''}
