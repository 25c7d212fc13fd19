-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Second step of a quorum: bring a lock that is still ours, and its counter, up
-- to the fence that was agreed on.  The time to live stays.  Sent twice, it does
-- no more than once.
--
-- KEYS  lock, counter
-- ARGV  holder, fence, tag (echoed), idle_ms (as in acquire.lua)
-- Reply {"raise", holder, tag, "OK", fence}
--       {"raise", holder, tag, "LOST", "gone" or "taken"}
--       {"raise", holder, tag, "COUNTER_BAD" or "ARGUMENT_BAD", what}

local MAX = '9007199254740991' -- 2^53 - 1
local holder, fence, tag = ARGV[1], ARGV[2], ARGV[3] or ''
local idle = ARGV[4]

local function reply(...)
    return {'raise', holder, tag, ...}
end

-- Numbers are compared as text: inside Lua they would be doubles.
local function below(a, b)
    return #a < #b or (#a == #b and a < b)
end
local function number(text)
    return text and text:find('^[1-9]%d*$') and not below(MAX, text)
end

if not number(fence) then
    return reply('ARGUMENT_BAD', 'fence')
elseif idle and idle ~= '0' and not number(idle) then
    return reply('ARGUMENT_BAD', 'idle_ms')
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' then
    if lock.err:find('WRONGTYPE', 1, true) then
        return reply('LOST', 'taken')
    end
    return lock
elseif not lock then
    return reply('LOST', 'gone')
end
local stored, owner = lock:match('^(%d+):(.*)$')
if owner ~= holder or not number(stored) or below(fence, stored) then
    return reply('LOST', 'taken')
end

local counter = redis.pcall('GET', KEYS[2])
if type(counter) == 'table' then
    if counter.err:find('WRONGTYPE', 1, true) then
        return reply('COUNTER_BAD', 'it is not a string')
    end
    return counter
elseif counter and not number(counter) then
    return reply('COUNTER_BAD', 'it is not a number from 1 to 2^53-1')
elseif counter and not idle and redis.call('PTTL', KEYS[2]) ~= -1 then
    return reply('COUNTER_BAD', 'it has a time to live')
end

if below(counter or '0', fence) then
    redis.call('SET', KEYS[2], fence)
    if idle and idle ~= '0' then
        redis.call('PEXPIRE', KEYS[2], string.format('%.0f',
            math.max(redis.call('PTTL', KEYS[1]), 0) + tonumber(idle)))
    end
end
redis.call('SET', KEYS[1], fence .. ':' .. holder, 'KEEPTTL')
return reply('OK', fence)
