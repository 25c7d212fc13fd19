-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Take several locks or none, each with a fence of its own.  As in acquire.lua
-- nothing is written before everything that can be wrong has been looked at,
-- for all of them.
--
-- KEYS  lock, counter, wake, waiters of the first resource; of the second; ...
-- ARGV  holder, ttl_ms, floor ("0": none; "?": not known yet, but the database
--       can be asked), wait_ms, token, which ("1" and so on: whose wake list
--       gave the token; "0": none did), tag (echoed), idle_ms (may be left out;
--       for who can ask the database: how long a counter stays when nobody
--       takes the lock any more; "0": for ever, even if it was to go)
-- Reply {"acquire_all", holder, tag, "OK", fence, left_ms, fence, left_ms, ...}
--       {"acquire_all", holder, tag, "BUSY", left_ms,
--        "ours", "kept" or "foreign", which}
--       {"acquire_all", holder, tag, "NEEDS_FLOOR" or "EXHAUSTED", "", which}
--       {"acquire_all", holder, tag,
--        "COUNTER_BAD" or "LOCK_BAD" or "ARGUMENT_BAD", what, which}

local MAX = '9007199254740991' -- 2^53 - 1
local LATE = 2000 -- ms after which a waiter that did not ask again has left
local GRACE = '500' -- ms that a woken waiter has to come and take the lock
local holder, ttl, floor, wait = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local token, which, tag = ARGV[5] or '', tonumber(ARGV[6] or '0'), ARGV[7] or ''
local idle = ARGV[8]
local n = #KEYS / 4

local function reply(...)
    return {'acquire_all', holder, tag, ...}
end

-- Numbers are compared as text: inside Lua they would be doubles.
local function below(a, b)
    return #a < #b or (#a == #b and a < b)
end
local function number(text)
    return text and text:find('^[1-9]%d*$') and not below(MAX, text)
end

-- Value, or false when there is none; then what is wrong with it; then an
-- error that is none of ours.
local function get(key)
    local value = redis.pcall('GET', key)
    if type(value) ~= 'table' then
        return value
    elseif value.err:find('WRONGTYPE', 1, true) then
        return false, 'it is not a string'
    end
    return false, nil, value
end

-- As in acquire.lua.
local function awaited(left)
    left = tonumber(left)
    return left < 0 and tonumber(wait) or math.min(tonumber(wait), left + LATE)
end

if not holder or #holder ~= 32 or not holder:find('^[0-9a-f]+$') then
    return reply('ARGUMENT_BAD', 'holder', '0')
elseif not number(ttl) then
    return reply('ARGUMENT_BAD', 'ttl_ms', '0')
elseif floor ~= '0' and floor ~= '?' and not number(floor) then
    return reply('ARGUMENT_BAD', 'floor', '0')
elseif wait ~= '0' and not number(wait) then
    return reply('ARGUMENT_BAD', 'wait_ms', '0')
elseif idle and idle ~= '0' and not number(idle) then
    return reply('ARGUMENT_BAD', 'idle_ms', '0')
elseif n < 1 or n ~= math.floor(n) then
    return reply('ARGUMENT_BAD', 'keys', '0')
end

-- Who is woken for one lock and finds another one held does not take the first:
-- the next one in line is woken for it.
local function pass_on()
    local lock = which and which > 0 and KEYS[4 * which - 3]
    if lock and redis.call('GET', lock) == 'wake:' .. token then
        local wake = KEYS[4 * which - 1]
        redis.call('DEL', wake)
        redis.call('RPUSH', wake, token)
        redis.call('PEXPIRE', wake, GRACE)
    end
end

local ours, kept, counters = {}, {}, {}
for i = 1, n do
    local key = 4 * i - 3
    local lock, wrong, failed = get(KEYS[key])
    if failed then
        return failed
    elseif wrong then
        return reply('LOCK_BAD', wrong, tostring(i))
    end
    kept[i] = lock and lock:match('^wake:([1-9]%d*)$')
    if kept[i] and (token == '?' or (which == i and kept[i] == token) or
                    redis.call('LLEN', KEYS[key + 2]) > 0) then
        lock = false
    end
    if lock then
        local fence, owner = lock:match('^(%d+):(.*)$')
        local regular = number(fence) and owner:find('^[0-9a-f]+$') and
            #owner == 32
        if not (regular and owner == holder) then
            local left = tostring(redis.call('PTTL', KEYS[key]))
            pass_on()
            local until_asked = awaited(left)
            if wait ~= '0' and
                redis.call('PTTL', KEYS[key + 3]) < until_asked then
                redis.call('SET', KEYS[key + 3], '1', 'PX',
                    string.format('%.0f', until_asked))
            end
            return reply('BUSY', left, kept[i] and 'kept' or
                (regular or lock == 'read') and 'ours' or 'foreign',
                tostring(i))
        end
        ours[i] = fence
    else
        local counter
        counter, wrong, failed = get(KEYS[key + 1])
        if failed then
            return failed
        elseif wrong then
            return reply('COUNTER_BAD', wrong, tostring(i))
        elseif counter and not number(counter) then
            return reply('COUNTER_BAD',
                'it is not a number from 1 to 2^53-1', tostring(i))
        elseif counter and not idle and
            redis.call('PTTL', KEYS[key + 1]) ~= -1 then
            return reply('COUNTER_BAD', 'it has a time to live', tostring(i))
        elseif not counter and floor == '?' then
            return reply('NEEDS_FLOOR', '', tostring(i))
        end
        counters[i] = counter or '0'
        if counters[i] == MAX or floor == MAX then
            return reply('EXHAUSTED', '', tostring(i))
        end
    end
end

local answer = reply('OK')
for i = 1, n do
    local key = 4 * i - 3
    local fence, left = ours[i], ttl
    if fence then
        left = tostring(redis.call('PTTL', KEYS[key]))
    else
        if number(floor) and below(counters[i], floor) then
            redis.call('SET', KEYS[key + 1], floor)
        end
        redis.call('INCR', KEYS[key + 1])
        fence = redis.call('GET', KEYS[key + 1])
        -- Idle is what has no lock: the counter never goes before it does.
        if idle and idle ~= '0' then
            redis.call('PEXPIRE', KEYS[key + 1],
                string.format('%.0f', tonumber(ttl) + tonumber(idle)))
        elseif idle and redis.call('PTTL', KEYS[key + 1]) ~= -1 then
            redis.call('SET', KEYS[key + 1], fence)
        end
        redis.call('SET', KEYS[key], fence .. ':' .. holder, 'PX', ttl)
        if kept[i] then
            redis.call('DEL', KEYS[key + 2])
        end
    end
    answer[#answer + 1] = fence
    answer[#answer + 1] = left
end
return answer
