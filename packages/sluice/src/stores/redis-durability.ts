/**
 * Checks whether a Redis keeps acknowledged writes. It runs once, at the start of a server that stores tickets and keys
 * there.
 */

import type { RedisConnection, RedisOptions } from './redis-connection.ts'
import { createRedisConnection } from './redis-connection.ts'

/**
 * Rejects if a restart or a full memory could lose an approval or make a used key valid again (the message says how to
 * fix it). The causes are no append-only file, one that cannot be written, an eviction policy, or a replica. Resolves
 * with warnings for the log.
 */
export async function checkRedisDurability(options: RedisOptions): Promise<readonly string[]> {
  // A replica is accepted here, so that it can be reported as one.
  const connection = createRedisConnection(options, { role: 'any' })
  try {
    return await durabilityOf(connection)
  } finally {
    await connection.close()
  }
}

async function durabilityOf(connection: RedisConnection): Promise<readonly string[]> {
  const info = parseInfo(await connection.run((client) => client.sendCommand<string>(['INFO'])))
  const faults = faultsIn(info)
  if (faults.length > 0) throw new Error(`This Redis can lose tickets and keys: ${faults.join('; ')}`)
  // Hosted Redis often forbids CONFIG. Then the setting is reported as unknown.
  const fsync = await connection
    .run((client) => client.sendCommand(['CONFIG', 'GET', 'appendfsync']))
    .then((reply) => Object.values(reply ?? {}).map(String))
    .catch(() => ['unknown'])
  if (fsync.includes('always')) return []
  return [
    `appendfsync is ${fsync.at(-1) ?? 'unknown'}: a power cut may lose the acknowledged writes of the last second (CONFIG SET appendfsync always)`,
  ]
}

function faultsIn(info: ReadonlyMap<string, string>): readonly string[] {
  const faults: string[] = []
  if (info.get('role') !== 'master') faults.push('it is a replica: connect to the primary')
  if (info.get('aof_enabled') !== '1')
    faults.push('it has no append-only file, so a restart loses data: CONFIG SET appendonly yes')
  else if (info.get('aof_last_write_status') !== 'ok')
    faults.push('its append-only file cannot be written: check its disk and its log')
  const policy = info.get('maxmemory_policy') ?? 'unknown'
  if (policy !== 'noeviction')
    faults.push(`it drops keys when its memory is full (${policy}): CONFIG SET maxmemory-policy noeviction`)
  return faults
}

const parseInfo = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
