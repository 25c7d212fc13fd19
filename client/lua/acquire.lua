-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Take a lock and issue the next fence.  Nothing is written before everything
-- that can be wrong has been looked at, because Redis does not roll back a
-- script that fails half-way.
--
-- KEYS  lock, counter, wake, waiters
-- ARGV  holder (32 hex digits), ttl_ms, floor ("0": none; "?": not known yet,
--       but the database can be asked), wait_ms (how long the caller is going
--       to block on the wake list if this fails), token (what the wake list
--       gave, "", or "?" when it may have given something that was lost on
--       the way), tag (echoed), idle_ms (may be left out; for who can ask the
--       database: how long the counter stays when nobody takes the lock any
--       more; "0": for ever, even if it was to go)
-- Reply {"acquire", holder, tag, "OK" or "REPLAY", fence, left_ms}
--       {"acquire", holder, tag, "BUSY", left_ms, "ours", "kept" or "foreign"}
--       {"acquire", holder, tag, "NEEDS_FLOOR" or "EXHAUSTED", ""}
--       {"acquire", holder, tag,
--        "COUNTER_BAD" or "LOCK_BAD" or "ARGUMENT_BAD", what}

local MAX = '9007199254740991' -- 2^53 - 1
local LATE = 2000 -- ms after which a waiter that did not ask again has left
local holder, ttl, floor, wait = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local token, tag, idle = ARGV[5] or '', ARGV[6] or '', ARGV[7]

local function reply(...)
    return {'acquire', holder, tag, ...}
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

-- How long somebody is to be seen waiting: to the end of the wait, or until the
-- holder's end should have made it ask again.  It may leave, and nobody tells.
-- Not just to the holder's end: the sleep begins after this, since no script can
-- sleep, and between its end and the next question the queue must not be lost.
local function awaited(left)
    left = tonumber(left)
    return left < 0 and tonumber(wait) or math.min(tonumber(wait), left + LATE)
end

if not holder or #holder ~= 32 or not holder:find('^[0-9a-f]+$') then
    return reply('ARGUMENT_BAD', 'holder')
elseif not number(ttl) then
    return reply('ARGUMENT_BAD', 'ttl_ms')
elseif floor ~= '0' and floor ~= '?' and not number(floor) then
    return reply('ARGUMENT_BAD', 'floor')
elseif wait ~= '0' and not number(wait) then
    return reply('ARGUMENT_BAD', 'wait_ms')
elseif idle and idle ~= '0' and not number(idle) then
    return reply('ARGUMENT_BAD', 'idle_ms')
end

local lock, wrong, failed = get(KEYS[1])
if failed then
    return failed
elseif wrong then
    return reply('LOCK_BAD', wrong)
end

-- Given back, and kept a moment for the waiter that was woken.  When the wake
-- list still has its element, there was no waiter.
local kept = lock and lock:match('^wake:([1-9]%d*)$')
if kept and (kept == token or token == '?' or
             redis.call('LLEN', KEYS[3]) > 0) then
    lock = false
end

if lock then
    local left = tostring(redis.call('PTTL', KEYS[1]))
    local fence, owner = lock:match('^(%d+):(.*)$')
    local ours = number(fence) and owner:find('^[0-9a-f]+$') and #owner == 32
    if ours and owner == holder then
        return reply('REPLAY', fence, left)
    end
    -- "read": those who took it by acquire_shared.lua.
    ours = ours or lock == 'read'
    local until_asked = awaited(left)
    if wait ~= '0' and redis.call('PTTL', KEYS[4]) < until_asked then
        redis.call('SET', KEYS[4], '1', 'PX', string.format('%.0f', until_asked))
    end
    return reply('BUSY', left, kept and 'kept' or ours and 'ours' or 'foreign')
end

local counter
counter, wrong, failed = get(KEYS[2])
if failed then
    return failed
elseif wrong then
    return reply('COUNTER_BAD', wrong)
elseif counter and not number(counter) then
    return reply('COUNTER_BAD', 'it is not a number from 1 to 2^53-1')
elseif counter and not idle and redis.call('PTTL', KEYS[2]) ~= -1 then
    return reply('COUNTER_BAD', 'it has a time to live')
elseif not counter and floor == '?' then
    return reply('NEEDS_FLOOR', '')
end

local raise = number(floor) and below(counter or '0', floor)
if (raise and floor or counter) == MAX then
    return reply('EXHAUSTED', '')
end
if raise then
    redis.call('SET', KEYS[2], floor)
end
redis.call('INCR', KEYS[2])
local fence = redis.call('GET', KEYS[2])
-- Idle is what has no lock, so the counter never goes before the lock does.
if idle and idle ~= '0' then
    redis.call('PEXPIRE', KEYS[2],
        string.format('%.0f', tonumber(ttl) + tonumber(idle)))
elseif idle and redis.call('PTTL', KEYS[2]) ~= -1 then
    redis.call('SET', KEYS[2], fence)
end
redis.call('SET', KEYS[1], fence .. ':' .. holder, 'PX', ttl)
if kept then
    redis.call('DEL', KEYS[3])
end
return reply('OK', fence, ttl)
