-- SPDX-License-Identifier: MIT
-- Copyright (c) 2026 ringfence maintainers
--
-- Try every command that the other scripts use, on a key that nobody else has,
-- and leave nothing behind.  For people who ask what a user is permitted.
--
-- KEYS  lock (of a resource made up for this)
-- ARGV  tag (echoed)
-- Reply {"probe", "", tag, "OK", refused, refused_shared}
--       the commands that were refused, parted by blanks; the second list are
--       those that only shared locks need

local key, tag = KEYS[1], ARGV[1] or ''

-- What is left behind must be what DEL takes away: so DEL comes first.
local needed = {
    {'DEL', key}, {'SET', key, '1', 'PX', '60000'}, {'GET', key},
    {'PTTL', key}, {'PEXPIRE', key, '60000'}, {'INCR', key}, {'EXISTS', key},
    {'DEL', key}, {'RPUSH', key, '1'}, {'LLEN', key}, {'DEL', key},
}
local shared = {
    {'TIME'}, {'ZADD', key, '1', 'a'}, {'ZSCORE', key, 'a'},
    {'ZCOUNT', key, '-inf', '+inf'}, {'ZREVRANGE', key, '0', '0'},
    {'ZREMRANGEBYSCORE', key, '5', '6'}, {'ZREM', key, 'a'}, {'DEL', key},
}

local function try(commands)
    local refused, told = {}, {}
    for _, command in ipairs(commands) do
        local name = command[1]:lower()
        local answer = redis.pcall(unpack(command))
        if type(answer) == 'table' and answer.err and not told[name] then
            told[name] = true
            refused[#refused + 1] = name
            if name == 'del' then
                break
            end
        end
    end
    return table.concat(refused, ' ')
end

local refused = try(needed)
if refused:find('del', 1, true) then
    return {'probe', '', tag, 'OK', refused, ''}
end
return {'probe', '', tag, 'OK', refused, try(shared)}
