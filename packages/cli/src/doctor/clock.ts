/** Compares clocks: tokens, tickets and limits end too early or too late on a machine whose clock differs. */

import type { Config } from '../config/schema.ts'
import { postgresUrl, redisUrl } from '../host/store.ts'
import { plural } from '../output.ts'
import type { Finding } from './finding.ts'
import { bad, good } from './finding.ts'

const maxSeconds = 30

/** `theirs` and `ours` are times in milliseconds. */
export function clockFinding(what: string, theirs: number, ours: number): Finding {
  const seconds = Math.round(Math.abs(ours - theirs) / 1000)
  return seconds > maxSeconds
    ? bad(what, `${plural(seconds, 'second')} apart`, 'Synchronize the clocks of both machines with NTP')
    : good(what, 'in sync')
}

/** Compares with the clock of the shared store, because entries end by its time. */
export async function checkStoreClock(
  { store }: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding[]> {
  if (typeof store !== 'object') return []
  const now =
    'redis' in store
      ? await redisTime(redisUrl(store.redis, env['SLUICE_REDIS_PASSWORD']))
      : await postgresTime(postgresUrl(store.postgres, env['SLUICE_POSTGRES_PASSWORD']))
  return now === undefined ? [] : [clockFinding('Clock of the store', now, Date.now())]
}

async function redisTime(url: string): Promise<number | undefined> {
  const { createClient } = await import('redis')
  const client = createClient({ url, socket: { connectTimeout: 5_000, reconnectStrategy: false } })
  client.on('error', () => {})
  try {
    await client.connect()
    const [seconds = Number.NaN] = (await client.sendCommand<string[]>(['TIME'])).map(Number)
    return Number.isFinite(seconds) ? seconds * 1000 : undefined
  } catch {
    // The check of the store has reported that it cannot be reached, and a hosted Redis may forbid the command.
    return undefined
  } finally {
    client.destroy()
  }
}

async function postgresTime(url: string): Promise<number | undefined> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ now: Date }>('SELECT clock_timestamp() AS now')
    return rows[0]?.now.getTime()
  } catch {
    return undefined
  } finally {
    await client.end().catch(() => {})
  }
}
