-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Take a lock together with others who only read.  While somebody reads, the
-- lock's key says "read"; who reads stands in a list beside it, each with an end
-- of its own.  No fence: who only reads has nothing to show to the database.
--
-- KEYS  lock, wake, waiters, readers
-- ARGV  holder (32 hex digits), ttl_ms, wait_ms, token, tag (echoed)
-- Reply {"acquire_shared", holder, tag, "OK" or "REPLAY", "0", left_ms}
--       {"acquire_shared", holder, tag, "BUSY", left_ms,
--        "ours", "kept" or "foreign"}
--       {"acquire_shared", holder, tag, "LOCK_BAD" or "ARGUMENT_BAD", what}

local GRACE = '500' -- ms that a woken waiter has to come and take the lock
local LATE = 2000 -- ms after which a waiter that did not ask again has left
local holder, ttl, wait = ARGV[1], ARGV[2], ARGV[3]
local token, tag = ARGV[4] or '', ARGV[5] or ''

local function reply(...)
    return {'acquire_shared', holder, tag, ...}
end
local function number(text)
    return text and text:find('^[1-9]%d*$') and #text <= 15
end

if not holder or #holder ~= 32 or not holder:find('^[0-9a-f]+$') then
    return reply('ARGUMENT_BAD', 'holder')
elseif not number(ttl) then
    return reply('ARGUMENT_BAD', 'ttl_ms')
elseif wait ~= '0' and not number(wait) then
    return reply('ARGUMENT_BAD', 'wait_ms')
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' then
    if lock.err:find('WRONGTYPE', 1, true) then
        return reply('LOCK_BAD', 'it is not a string')
    end
    return lock
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local kept = lock and lock:match('^wake:([1-9]%d*)$')
if kept and (kept == token or token == '?' or
             redis.call('LLEN', KEYS[2]) > 0) then
    lock = false
end

local waiting = redis.call('EXISTS', KEYS[3]) == 1
if lock == 'read' then
    local ends = redis.call('ZSCORE', KEYS[4], holder)
    if ends and tonumber(ends) > now then
        return reply('REPLAY', '0',
            string.format('%.0f', tonumber(ends) - now))
    end
end
-- Who waits already goes first, or those who write would wait for ever.
if lock and (lock ~= 'read' or (waiting and token == '')) then
    local fence, owner = lock:match('^([1-9]%d*):([0-9a-f]+)$')
    local who = kept and 'kept' or 'foreign'
    if lock == 'read' or (fence and #owner == 32) then
        who = 'ours'
    end
    local left, seen = redis.call('PTTL', KEYS[1]), redis.call('PTTL', KEYS[3])
    local until_asked = left < 0 and tonumber(wait) or
        math.min(tonumber(wait), left + LATE) -- as in acquire.lua
    if lock == 'read' then
        -- Only who is seen waiting keeps us out, and we would keep ourselves
        -- out if we were seen too: ask again when that is over.
        left = seen >= 0 and seen < left and seen or left
    elseif wait ~= '0' and seen < until_asked then
        redis.call('SET', KEYS[3], '1', 'PX', string.format('%.0f', until_asked))
    end
    return reply('BUSY', tostring(left), who)
end

if not lock then
    -- Readers of an earlier time are nobody's business any more.
    redis.call('DEL', KEYS[4])
    redis.call('SET', KEYS[1], 'read', 'PX', ttl)
elseif redis.call('PTTL', KEYS[1]) < tonumber(ttl) then
    redis.call('PEXPIRE', KEYS[1], ttl)
end
redis.call('ZADD', KEYS[4], string.format('%.0f', now + tonumber(ttl)), holder)
if redis.call('PTTL', KEYS[4]) < tonumber(ttl) then
    redis.call('PEXPIRE', KEYS[4], ttl)
end
if kept then
    redis.call('DEL', KEYS[2])
end
-- The next one in line may be another who only reads.
if token ~= '' and waiting then
    redis.call('DEL', KEYS[2])
    redis.call('RPUSH', KEYS[2], token)
    redis.call('PEXPIRE', KEYS[2], GRACE)
end
return reply('OK', '0', ttl)
