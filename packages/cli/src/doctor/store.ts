/** Checks the store: whether it opens and accepts writes, and for Redis and PostgreSQL whether its configuration can lose data. */

import type { Config } from '../config/schema.ts'
import { errorMessage } from '../error-message.ts'
import { openStore, postgresUrl, redisUrl } from '../host/store.ts'
import { checkApprovals } from './approvals.ts'
import { checkStoreClock } from './clock.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

export async function checkStore(
  config: Config,
  env: Readonly<Record<string, string | undefined>>,
): Promise<readonly Finding[]> {
  if (config.store === 'memory')
    return [
      note('Store', 'memory', 'Approvals, keys and sessions are lost at exit. Set "store" to "sqlite" to keep them'),
    ]
  const found = await checkWrites(config, env)
  // The other checks need a store that works.
  if (found.state === 'bad') return [found]
  const approvals = await checkApprovals(config, env)
  if (config.store === 'sqlite') return [found, ...approvals]
  const durability =
    'redis' in config.store
      ? await checkRedis(config.store.redis, env['SLUICE_REDIS_PASSWORD'])
      : await checkPostgres(config.store.postgres, env['SLUICE_POSTGRES_PASSWORD'])
  return [found, ...approvals, ...durability, ...(await checkStoreClock(config, env))]
}

async function checkWrites(config: Config, env: Readonly<Record<string, string | undefined>>): Promise<Finding> {
  try {
    const { store, name, close } = await openStore(config, env)
    try {
      await store.set(['doctor'], 'x', 1000)
      return (await store.get(['doctor'])) === 'x'
        ? good('Store', name)
        : bad('Store', `${name} does not return what was written`, 'Check its log')
    } finally {
      await close()
    }
  } catch (thrown) {
    const missing = missingPackage(thrown)
    if (missing !== undefined)
      return bad(
        'Store',
        `the package ${missing} is not installed`,
        `Install it beside @sluice/cli: npm install ${missing}`,
      )
    return bad('Store', errorMessage(thrown), 'Check that it is running and that this account may use it')
  }
}

/** Returns the name of the package that an import did not find. */
function missingPackage(thrown: unknown): string | undefined {
  const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ERR_MODULE_NOT_FOUND'
  return isMissing ? /^Cannot find package '([^']+)'/.exec(thrown.message)?.[1] : undefined
}

async function checkRedis(address: string, password: string | undefined): Promise<readonly Finding[]> {
  const url = redisUrl(address, password)
  const { checkRedisDurability } = await import('sluice/redis')
  try {
    const warnings = await checkRedisDurability({ url })
    return warnings.length === 0
      ? [good('Redis', 'keeps acknowledged writes')]
      : warnings.map((each) => note('Redis', each, 'Acceptable if you can lose a second of decisions'))
  } catch (thrown) {
    return [
      bad(
        'Redis',
        thrown instanceof Error ? thrown.message : String(thrown),
        'Set appendonly yes and maxmemory-policy noeviction in redis.conf, because tickets and keys must survive a restart',
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
