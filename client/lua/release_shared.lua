-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Like release.lua, for a lock that was taken by acquire_shared.lua.  The last
-- reader gives the lock back and wakes the longest waiter.
--
-- KEYS  lock, wake, waiters, readers
-- ARGV  holder, tag (echoed)
-- Reply {"release_shared", holder, tag, "OK", ""}
--       {"release_shared", holder, tag, "LOST", "gone" or "taken"}

local GRACE = '500' -- ms that a woken waiter has to come and take the lock
local holder, tag = ARGV[1], ARGV[2] or ''

local function reply(...)
    return {'release_shared', holder, tag, ...}
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
local ends = redis.call('ZSCORE', KEYS[4], holder)
local ours = ends and tonumber(ends) > now
redis.call('ZREM', KEYS[4], holder)
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', string.format('%.0f', now))

local last = redis.call('ZREVRANGE', KEYS[4], 0, 0, 'WITHSCORES')
if last[2] then
    -- Others go on reading: the lock ends with the last of them.
    redis.call('PEXPIRE', KEYS[1],
        string.format('%.0f', tonumber(last[2]) - now))
else
    redis.call('DEL', KEYS[1], KEYS[2])
    if redis.call('EXISTS', KEYS[3]) == 1 then
        -- There is no fence to tell this turn from others, but the time will.
        local turn = string.format('%.0f', now)
        redis.call('SET', KEYS[1], 'wake:' .. turn, 'PX', GRACE)
        redis.call('RPUSH', KEYS[2], turn)
        redis.call('PEXPIRE', KEYS[2], GRACE)
    end
end
if ours then
    return reply('OK', '')
end
return reply('LOST', 'gone')
