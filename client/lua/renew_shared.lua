-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Like renew.lua, for a lock that was taken by acquire_shared.lua.
--
-- KEYS  lock, readers
-- ARGV  holder, ttl_ms, tag (echoed)
-- Reply {"renew_shared", holder, tag, "OK", ""}
--       {"renew_shared", holder, tag, "LOST", "gone" or "taken"}
--       {"renew_shared", holder, tag, "ARGUMENT_BAD", what}

local holder, ttl, tag = ARGV[1], ARGV[2], ARGV[3] or ''

local function reply(...)
    return {'renew_shared', holder, tag, ...}
end

if not ttl or not ttl:find('^[1-9]%d*$') or #ttl > 15 then
    return reply('ARGUMENT_BAD', 'ttl_ms')
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' and not lock.err:find('WRONGTYPE', 1, true) then
    return lock
elseif not lock then
    return reply('LOST', 'gone')
elseif lock ~= 'read' then
    return reply('LOST', 'taken')
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ends = redis.call('ZSCORE', KEYS[2], holder)
if not ends or tonumber(ends) <= now then
    return reply('LOST', 'gone')
end
if tonumber(ends) < now + tonumber(ttl) then
    redis.call('ZADD', KEYS[2], string.format('%.0f', now + tonumber(ttl)),
        holder)
end
for i = 1, 2 do
    if redis.call('PTTL', KEYS[i]) < tonumber(ttl) then
        redis.call('PEXPIRE', KEYS[i], ttl)
    end
end
return reply('OK', '')
