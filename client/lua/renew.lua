-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Let a lock live ttl_ms from now, if it is still ours.  Never re-creates a
-- lock that is gone, and never shortens one: a request that arrives late or
-- twice must not take back what a later one has granted.
--
-- KEYS  lock, counter (only with idle_ms)
-- ARGV  holder, fence, ttl_ms, tag (echoed), idle_ms (may be left out: how long
--       a counter that is to go stays beyond the lock)
-- Reply {"renew", holder, tag, "OK", ""}
--       {"renew", holder, tag, "LOST", "gone" or "taken"}
--       {"renew", holder, tag, "ARGUMENT_BAD", what}

local holder, fence, ttl, tag = ARGV[1], ARGV[2], ARGV[3], ARGV[4] or ''
local idle = ARGV[5]

local function reply(...)
    return {'renew', holder, tag, ...}
end

-- PEXPIRE with 0 or less would delete the lock and answer that all is well.
if not ttl or not ttl:find('^[1-9]%d*$') or #ttl > 15 then
    return reply('ARGUMENT_BAD', 'ttl_ms')
elseif idle and (not idle:find('^%d+$') or #idle > 15) then
    return reply('ARGUMENT_BAD', 'idle_ms')
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' and not lock.err:find('WRONGTYPE', 1, true) then
    return lock
elseif not lock then
    return reply('LOST', 'gone')
elseif lock ~= fence .. ':' .. holder then
    return reply('LOST', 'taken')
end
if redis.call('PTTL', KEYS[1]) < tonumber(ttl) then
    redis.call('PEXPIRE', KEYS[1], ttl)
end
if idle then
    local least = tonumber(ttl) + tonumber(idle)
    local left = redis.call('PTTL', KEYS[2])
    if left >= 0 and left < least then
        redis.call('PEXPIRE', KEYS[2], string.format('%.0f', least))
    end
end
return reply('OK', '')
