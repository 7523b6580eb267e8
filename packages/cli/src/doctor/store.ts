/** The store: whether it opens, writes and keeps; for Redis and PostgreSQL also what their configuration would forget. */

import type { Config } from '../config/schema.ts'
import { openStore, postgresUrl, redisUrl } from '../host/store.ts'
import { checkApprovals } from './approvals.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

export async function checkStore(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  if (config.store === 'memory')
    return [note('Store', 'memory', 'Approvals, keys and sessions are gone when it ends; store: sqlite keeps them')]
  const found = await checkWrites(config, env)
  // Of one that is away nothing more can be said.
  if (found.state === 'bad') return [found]
  const approvals = await checkApprovals(config, env)
  if (config.store === 'sqlite') return [found, ...approvals]
  const durability =
    'redis' in config.store
      ? await checkRedis(config.store.redis, env['SLUICE_REDIS_PASSWORD'])
      : await checkPostgres(config.store.postgres, env['SLUICE_POSTGRES_PASSWORD'])
  return [found, ...approvals, ...durability]
}

async function checkWrites(config: Config, env: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  try {
    const { store, name, close } = await openStore(config, env)
    try {
      await store.set(['doctor'], 'x', 1000)
      return (await store.get(['doctor'])) === 'x'
        ? good('Store', name)
        : bad('Store', `${name} does not give back what was written`, 'Look at its log')
    } finally {
      await close()
    }
  } catch (thrown) {
    return bad(
      'Store',
      thrown instanceof Error ? thrown.message : String(thrown),
      'Is it running, and may this account use it?',
    )
  }
}

async function checkRedis(address: string, password: string | undefined): Promise<readonly Finding[]> {
  const url = redisUrl(address, password)
  const { checkRedisDurability } = await import('sluice/redis')
  try {
    const weaker = await checkRedisDurability({ url })
    return weaker.length === 0
      ? [good('Redis', 'keeps what it acknowledged')]
      : weaker.map((each) => note('Redis', each, 'Fine where losing a second of decisions is'))
  } catch (thrown) {
    return [
      bad(
        'Redis',
        thrown instanceof Error ? thrown.message : String(thrown),
        'Set appendonly yes and maxmemory-policy noeviction in redis.conf: tickets and keys must outlive a restart',
      ),
    ]
  }
}

async function checkPostgres(address: string, password: string | undefined): Promise<readonly Finding[]> {
  const { checkPostgresDurability } = await import('sluice/postgres')
  try {
    const warnings = await checkPostgresDurability({ url: postgresUrl(address, password) })
    return warnings.length === 0
      ? [good('PostgreSQL', 'keeps what it acknowledged')]
      : warnings.map((each) => note('PostgreSQL', each, 'Acceptable if losing the last decisions is'))
  } catch (thrown) {
    return [
      bad(
        'PostgreSQL',
        thrown instanceof Error ? thrown.message : String(thrown),
        'Change the setting and restart or reload the server: tickets and keys must outlive a crash',
      ),
    ]
  }
}
