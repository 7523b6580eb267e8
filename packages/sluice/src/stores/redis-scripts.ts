/**
 * The verbs that need more than one command, as Lua scripts, which Redis runs atomically.
 *
 * Names: `v:` + encoded key holds a value, with Redis's expiry. `index` is a sorted set of all encoded keys with score
 * 0, which Redis keeps in byte order, so that `list` is a range of it. `until` has the keys that expire, by time, so
 * that they can be removed from the index. `b:` + encoded key is a bucket and always expires. `appended` is a counter.
 * The first write of a script is one that Redis refuses when its memory is full. Later writes then succeed, so that no
 * script stops halfway.
 */

import { createHash } from 'node:crypto'

export interface Script {
  readonly source: string
  readonly sha: string
}
const script = (source: string): Script => ({ source, sha: createHash('sha1').update(source).digest('hex') })

/**
 * KEYS[1] is the prefix of all names, passed as a key so that a cluster finds the slot. `life` is '' for ever, or
 * milliseconds.
 */
const writeHelpers = `
local values, index, expiring = KEYS[1] .. 'v:', KEYS[1] .. 'index', KEYS[1] .. 'until'
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function drop(key)
  redis.call('DEL', values .. key)
  redis.call('ZREM', index, key)
  redis.call('ZREM', expiring, key)
end
local function put(key, value, life)
  if life == '' then
    redis.call('SET', values .. key, value)
    redis.call('ZREM', expiring, key)
  elseif tonumber(life) <= 0 then
    return drop(key)
  else
    redis.call('SET', values .. key, value, 'PX', life)
    redis.call('ZADD', expiring, string.format('%.0f', now + life), key)
  end
  redis.call('ZADD', index, 0, key)
  -- A few more than one write can add, so that it never falls behind; a second late, so that Redis has expired them first.
  for _, dead in ipairs(redis.call('ZRANGEBYSCORE', expiring, '-inf', string.format('%.0f', now - 1000), 'LIMIT', 0, 4)) do
    local left = redis.call('PTTL', values .. dead)
    if left == -2 then drop(dead)
    elseif left == -1 then redis.call('ZREM', expiring, dead)
    else redis.call('ZADD', expiring, string.format('%.0f', now + left), dead) end
  end
end
`

/** ARGV: key, value, life. */
export const set: Script = script(`${writeHelpers} put(ARGV[1], ARGV[2], ARGV[3])`)

/** ARGV: key, value, life, and the expected value, if any. */
export const swap: Script = script(`${writeHelpers}
if redis.call('GET', values .. ARGV[1]) ~= (ARGV[4] or false) then return 0 end
put(ARGV[1], ARGV[2], ARGV[3])
return 1`)

/** ARGV: key. */
export const remove: Script = script(`${writeHelpers} drop(ARGV[1])`)

/** ARGV: key, value, life. Returns the last part of the new key. */
export const append: Script = script(`${writeHelpers}
local part = string.format('%016.0f', redis.call('INCR', KEYS[1] .. 'appended'))
put(ARGV[1] .. part .. '\\1', ARGV[2], ARGV[3])
return part`)

/** ARGV: from, to, limit. Returns the next start, or '' at the end, and keys and values in turn. */
export const list: Script = script(`
local values, index, from, found = KEYS[1] .. 'v:', KEYS[1] .. 'index', ARGV[1], {}
local left, seen = tonumber(ARGV[3]), 0
while left > 0 and seen < 10000 do
  local keys = redis.call('ZRANGEBYLEX', index, from, ARGV[2], 'LIMIT', 0, math.min(left, 100))
  if #keys == 0 then return {'', found} end
  for _, key in ipairs(keys) do
    local value = redis.call('GET', values .. key)
    if value then
      found[#found + 1] = key
      found[#found + 1] = value
      left = left - 1
    end
  end
  seen = seen + #keys
  from = '(' .. keys[#keys]
end
if left == 0 then from = '' end
return {from, found}`)

/**
 * ARGV: key, capacity, rate. The same arithmetic as `takeToken` in memory.ts, by Redis's clock. A bucket expires when
 * it is full again.
 */
export const take: Script = script(`
local name, capacity, rate = KEYS[1] .. 'b:' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left, at = string.match(redis.call('GET', name) or '', '^(%S+) (%S+)$')
left, at = tonumber(left or capacity), tonumber(at or now)
local function keep(level)
  local full = math.max(1, math.min(math.ceil((capacity - level) / rate * 1000), 1e14))
  redis.call('SET', name, string.format('%.17g %.0f', level, now), 'PX', string.format('%.0f', full))
end
local filled = math.min(capacity, left + math.max(0, now - at) / 1000 * rate)
local enough = 1 - 1e-6
if filled >= enough then
  keep(filled - 1)
  return 0
end
if now < at then keep(left) end
return string.format('%.0f', math.max(1, math.ceil((enough - filled) / rate * 1000)))`)
