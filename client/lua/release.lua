-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Give a lock back, if it is still ours, and wake the longest waiter.
--
-- KEYS  lock, wake, waiters
-- ARGV  holder, fence, tag (echoed)
-- Reply {"release", holder, tag, "OK", ""}
--       {"release", holder, tag, "LOST", "gone" or "taken"}

local GRACE = '500' -- ms that a woken waiter has to come and take the lock
local holder, fence, tag = ARGV[1], ARGV[2], ARGV[3] or ''

local function reply(...)
    return {'release', holder, tag, ...}
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' and not lock.err:find('WRONGTYPE', 1, true) then
    return lock
elseif not lock then
    return reply('LOST', 'gone')
elseif lock ~= fence .. ':' .. holder then
    return reply('LOST', 'taken')
end

-- DEL comes first: when memory is full it still passes, and what follows in
-- the same script then passes as well.
redis.call('DEL', KEYS[1], KEYS[2])
if redis.call('EXISTS', KEYS[3]) == 1 then
    redis.call('SET', KEYS[1], 'wake:' .. fence, 'PX', GRACE)
    redis.call('RPUSH', KEYS[2], fence)
    redis.call('PEXPIRE', KEYS[2], GRACE)
end
return reply('OK', '')
