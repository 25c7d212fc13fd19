-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Raise the fence of a lock above floor, if the lock is still ours.  For a
-- grant that the database refused at its first claim, and for nothing else.
-- The time to live stays.  Sent twice, it answers twice with the same fence.
--
-- KEYS  lock, counter
-- ARGV  holder, fence, floor, tag (echoed), idle_ms (as in acquire.lua)
-- Reply {"reissue", holder, tag, "OK" or "REPLAY", fence}
--       {"reissue", holder, tag, "LOST", "gone" or "taken"}
--       {"reissue", holder, tag, "EXHAUSTED", ""}
--       {"reissue", holder, tag, "COUNTER_BAD" or "ARGUMENT_BAD", what}

local MAX = '9007199254740991' -- 2^53 - 1
local holder, fence, floor, tag = ARGV[1], ARGV[2], ARGV[3], ARGV[4] or ''
local idle = ARGV[5]

local function reply(...)
    return {'reissue', holder, tag, ...}
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
elseif not number(floor) then
    return reply('ARGUMENT_BAD', 'floor')
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
if owner ~= holder or not number(stored) then
    return reply('LOST', 'taken')
elseif stored ~= fence then
    -- Only an earlier copy of this very request can have raised it.
    if below(fence, stored) and below(floor, stored) then
        return reply('REPLAY', stored)
    end
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

if below(floor, fence) then
    floor = fence
end
local raise = below(counter or '0', floor)
if (raise and floor or counter) == MAX then
    return reply('EXHAUSTED', '')
end
if raise then
    redis.call('SET', KEYS[2], floor)
end
redis.call('INCR', KEYS[2])
local issued = redis.call('GET', KEYS[2])
if idle and idle ~= '0' then
    redis.call('PEXPIRE', KEYS[2], string.format('%.0f',
        math.max(redis.call('PTTL', KEYS[1]), 0) + tonumber(idle)))
elseif idle and redis.call('PTTL', KEYS[2]) ~= -1 then
    redis.call('SET', KEYS[2], issued)
end
redis.call('SET', KEYS[1], issued .. ':' .. holder, 'KEEPTTL')
return reply('OK', issued)
