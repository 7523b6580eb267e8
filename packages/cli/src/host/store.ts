/** Opens the configured store, and reads the secret that seals state. */

import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Bus, Store } from 'sluice'
import { memoryStore } from 'sluice'
import { createPrivateFile, type Environment, makePrivateFolder, secretFromEnvironment } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import type { Config } from '../config/schema.ts'
import { CommandError } from '../output.ts'

export interface OpenStore {
  readonly store: Store
  /** Notifies the other processes, if several share the store. */
  readonly bus?: Bus
  /** A name for people, such as `sqlite .sluice/sluice.db`. */
  readonly name: string
  close(): Promise<void>
}

export async function openStore({ store, data }: Config, env: Environment): Promise<OpenStore> {
  if (store === 'memory') return { store: memoryStore(), name: 'memory: lost at exit', close: async () => {} }
  if (store === 'sqlite') {
    const file = join(dataFolder(data), 'sluice.db')
    const opened = sqliteStore(file)
    return { store: opened, name: `sqlite ${file}`, close: () => opened.close() }
  }
  if ('postgres' in store) {
    const url = postgresUrl(store.postgres, env['SLUICE_POSTGRES_PASSWORD'])
    const { postgresStore, postgresBus } = await import('sluice/postgres')
    const [opened, bus] = [postgresStore({ url }), postgresBus({ url })]
    return {
      store: opened,
      bus,
      name: `postgres ${store.postgres}`,
      async close() {
        await Promise.all([opened.close(), bus.close()])
      },
    }
  }
  const url = redisUrl(store.redis, env['SLUICE_REDIS_PASSWORD'])
  const { redisStore, redisBus } = await import('sluice/redis')
  const opened = redisStore({ url })
  const bus = redisBus({ url })
  return {
    store: opened,
    bus,
    name: `redis ${store.redis}`,
    async close() {
      await Promise.all([opened.close(), bus.close()])
    },
  }
}

/**
 * Returns the PostgreSQL in which servers keep the data that all processes see. `undefined` if the processes share
 * another store, or this data folder.
 */
export function sharedPostgres({ store, sharedData }: Config, env: Environment): string | undefined {
  if (typeof store !== 'object' || !('postgres' in store) || sharedData) return undefined
  return postgresUrl(store.postgres, env['SLUICE_POSTGRES_PASSWORD'])
}

/** Makes the data folder, private to this account. */
export function dataFolder(path: string): string {
  const folder = resolve(path)
  try {
    makePrivateFolder(folder)
    // Keys, backups and secrets must not be committed with the project that the folder is in.
    createPrivateFile(join(folder, '.gitignore'), () => '*\n')
  } catch (thrown) {
    const cause = thrown instanceof Error ? ('code' in thrown ? String(thrown.code) : thrown.message) : 'unknown'
    throw new CommandError(
      `${folder} cannot be created (${cause}). Choose another folder with --data, or make this one writable.`,
    )
  }
  return folder
}

/** Adds the password to the URL. Refuses one in the configuration, which must not hold secrets. */
export function redisUrl(text: string, password: string | undefined): string {
  const url = new URL(text)
  if (url.password !== '')
    throw new CommandError('"store.redis" contains a password. Set SLUICE_REDIS_PASSWORD instead')
  if (password) url.password = password
  return url.href
}

/** The same for PostgreSQL, whose addresses may name a socket, which `URL` does not read. */
export function postgresUrl(text: string, password: string | undefined): string {
  const [, scheme = '', user = '', colon, rest = ''] = /^(\w+:\/\/)(?:([^/@:?]*)(:[^/@?]*)?@)?(.*)$/.exec(text) ?? []
  if (colon !== undefined || /[?&]password=/.test(rest))
    throw new CommandError('store.postgres holds a password; put it into SLUICE_POSTGRES_PASSWORD instead')
  return password ? `${scheme}${user}:${encodeURIComponent(password)}@${rest}` : text
}

/**
 * Reads the secret from the environment, from the configured file, or from a file in the data folder. That file is made
 * once, so that sealed state survives a restart. Processes that share Redis must be given the same secret.
 */
export function secretOf({ secretFile, data, store }: Config, env: Environment): readonly string[] {
  const fromEnvironment = secretFromEnvironment(env)
  if (fromEnvironment) return fromEnvironment
  if (secretFile !== undefined) return linesOf(readFileSync(secretFile, 'utf8'))
  if (typeof store === 'object')
    throw new CommandError(
      `Processes that share ${'redis' in store ? 'Redis' : 'PostgreSQL'} must share a secret: set SLUICE_SECRET or "secretFile" (make one with: openssl rand -hex 32)`,
    )
  const file = join(dataFolder(data), 'secret')
  return linesOf(
    createPrivateFile(file, () => `${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}\n`),
  )
}

const linesOf = (text: string): readonly string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
