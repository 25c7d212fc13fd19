-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Take a lock away from its holder: for people, not for programs.  Whoever
-- asks must know the fence, so that it can't hit a later holder by mistake,
-- and must say why: the reason goes to the server's log.
--
-- KEYS  lock, wake, waiters
-- ARGV  fence, reason, tag (echoed)
-- Reply {"force_release", "", tag, "OK", holder}
--       {"force_release", "", tag, "LOST", "gone" or "taken"}
--       {"force_release", "", tag, "ARGUMENT_BAD", what}

local GRACE = '500' -- ms that a woken waiter has to come and take the lock
local fence, reason, tag = ARGV[1], ARGV[2], ARGV[3] or ''

local function reply(...)
    return {'force_release', '', tag, ...}
end

if not fence or not fence:find('^[1-9]%d*$') then
    return reply('ARGUMENT_BAD', 'fence')
elseif not reason or reason == '' then
    return reply('ARGUMENT_BAD', 'reason')
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' and not lock.err:find('WRONGTYPE', 1, true) then
    return lock
elseif not lock or (type(lock) == 'string' and lock:find('^wake:[1-9]%d*$')) then
    return reply('LOST', 'gone')
end
local stored, holder
if type(lock) == 'string' then
    stored, holder = lock:match('^(%d+):(.*)$')
end
if stored ~= fence then
    return reply('LOST', 'taken')
end

redis.call('DEL', KEYS[1], KEYS[2])
if redis.call('EXISTS', KEYS[3]) == 1 then
    redis.call('SET', KEYS[1], 'wake:' .. fence, 'PX', GRACE)
    redis.call('RPUSH', KEYS[2], fence)
    redis.call('PEXPIRE', KEYS[2], GRACE)
end
redis.log(redis.LOG_NOTICE, 'ringfence: ' .. KEYS[1] .. ' taken from ' ..
    holder .. ', fence ' .. fence .. ': ' .. reason)
return reply('OK', holder)
