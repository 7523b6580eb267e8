/** Whether a Redis keeps what it acknowledged: asked once, at start-up, by those whose tickets and keys live there. */

import type { RedisConnection, RedisOptions } from './redis-connection.ts'
import { createRedisConnection } from './redis-connection.ts'

/**
 * Throws, with what to set, where a restart or a full memory would forget an approval or make a used key good again:
 * no append-only file, one that cannot be written, an eviction policy, a replica. Returns what is merely weaker than it
 * could be, as sentences for the log.
 */
export async function checkRedisDurability(options: RedisOptions): Promise<readonly string[]> {
  // A replica must be able to say that it is one.
  const link = createRedisConnection(options, { role: 'any' })
  try {
    return await durabilityOf(link)
  } finally {
    await link.close()
  }
}

async function durabilityOf(link: RedisConnection): Promise<readonly string[]> {
  const info = parseInfo(await link.run((client) => client.sendCommand<string>(['INFO'])))
  const faults = faultsIn(info)
  if (faults.length > 0) throw new Error(`This Redis cannot be trusted with tickets and keys: ${faults.join('; ')}`)
  // Hosted Redis often forbids CONFIG; then nobody can know, and that is what is said.
  const fsync = await link
    .run((client) => client.sendCommand(['CONFIG', 'GET', 'appendfsync']))
    .then((reply) => Object.values(reply ?? {}).map(String))
    .catch(() => ['unknown'])
  if (fsync.includes('always')) return []
  return [
    `appendfsync is ${fsync.at(-1) ?? 'unknown'}: a power cut may lose the last second of what Redis acknowledged (CONFIG SET appendfsync always)`,
  ]
}

function faultsIn(info: ReadonlyMap<string, string>): readonly string[] {
  const faults: string[] = []
  if (info.get('role') !== 'master') faults.push('it is a replica: connect to the primary')
  if (info.get('aof_enabled') !== '1')
    faults.push('it has no append-only file, so a restart forgets: CONFIG SET appendonly yes')
  else if (info.get('aof_last_write_status') !== 'ok')
    faults.push('its append-only file cannot be written: look at its disk and its log')
  const policy = info.get('maxmemory_policy') ?? 'unknown'
  if (policy !== 'noeviction')
    faults.push(`it drops keys when its memory is full (${policy}): CONFIG SET maxmemory-policy noeviction`)
  return faults
}

const parseInfo = (text: string): ReadonlyMap<string, string> =>
  new Map(text.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
