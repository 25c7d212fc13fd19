-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Give a lock back on one node of a quorum: what number it has there may not be
-- known, because the answer was lost, but none that this holder was issued
-- before is above upto.  One that is above was issued later, and stays: this
-- request is late then.
--
-- KEYS  lock, wake, waiters
-- ARGV  holder, upto, tag (echoed)
-- Reply {"withdraw", holder, tag, "OK", ""}
--       {"withdraw", holder, tag, "LOST", "gone" or "taken"}
--       {"withdraw", holder, tag, "ARGUMENT_BAD", what}

local MAX = '9007199254740991' -- 2^53 - 1
local GRACE = '500' -- ms that a woken waiter has to come and take the lock
local holder, upto, tag = ARGV[1], ARGV[2], ARGV[3] or ''

local function reply(...)
    return {'withdraw', holder, tag, ...}
end

-- Numbers are compared as text: inside Lua they would be doubles.
local function below(a, b)
    return #a < #b or (#a == #b and a < b)
end
local function number(text)
    return text and text:find('^[1-9]%d*$') and not below(MAX, text)
end

if not number(upto) then
    return reply('ARGUMENT_BAD', 'upto')
end

local lock = redis.pcall('GET', KEYS[1])
if type(lock) == 'table' and not lock.err:find('WRONGTYPE', 1, true) then
    return lock
elseif not lock then
    return reply('LOST', 'gone')
end
local fence, owner
if type(lock) == 'string' then
    fence, owner = lock:match('^(%d+):(.*)$')
end
if owner ~= holder or below(upto, fence) then
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
