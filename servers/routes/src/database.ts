/** The server's database: saved destinations, geocoded places and planned routes. A tenant sees only its own rows. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from 'sluice'
import { makePrivateFile } from 'sluice/node'
import { createRetry } from 'sluice/sqlite'
import { RouteError } from './failure.ts'
import type { Place } from './route.ts'

export interface Destination extends Place {
  readonly id: string
  readonly address: string
  readonly savedAt: string
}

/**
 * Every method waits for another process's lock, at most a second and without blocking, and then throws
 * STORAGE_UNAVAILABLE.
 */
export interface Database {
  destinations(tenant: string): Promise<readonly Destination[]>
  /** Finds a destination by its name (without accents and case) or its id. */
  destination(tenant: string, nameOrId: string): Promise<Destination | undefined>
  /** Returns `'taken'` if the name is in use, and `'full'` if the tenant has `maxDestinations`. */
  save(
    tenant: string,
    destination: Omit<Destination, 'id' | 'savedAt'> & { readonly id?: string },
  ): Promise<Destination | 'taken' | 'full'>
  remove(tenant: string, id: string): Promise<boolean>
  /** Returns a cached geocoding result that has not expired. */
  findPlace(tenant: string, text: string): Promise<Place | undefined>
  savePlace(tenant: string, text: string, place: Place): Promise<void>
  saveRoute(tenant: string, id: string, json: string): Promise<void>
  findRoute(tenant: string, id: string): Promise<string | undefined>
  routes(tenant: string): Promise<readonly { readonly id: string; readonly at: string }[]>
  readonly sqlite: DatabaseSync
  close(): void
}

/**
 * Compares names without accents, case and punctuation. It keeps letters of every script and the gaps between words:
 * "東京" is not "大阪", "Kansas City" is not "Kansas", and "12/3" is not "123".
 */
const nameKey = (text: string): string =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[đĐðÐ]/g, 'd')
    .toLowerCase()
    .replace(/[\s\p{P}]+/gu, ' ')
    .trim() || text.trim()

/** A list of all destinations must fit into one answer. */
export const maxDestinations = 500
const placeTtlMs = 30 * 24 * 3600 * 1000
const maxRoutes = 100

const tables = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS destinations (
    tenant TEXT NOT NULL, id TEXT NOT NULL, folded TEXT NOT NULL, name TEXT NOT NULL, address TEXT NOT NULL,
    lat REAL NOT NULL, lon REAL NOT NULL, saved_at TEXT NOT NULL,
    PRIMARY KEY (tenant, id), UNIQUE (tenant, folded)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS places (
    tenant TEXT NOT NULL, text TEXT NOT NULL, name TEXT NOT NULL, lat REAL NOT NULL, lon REAL NOT NULL,
    found_at INTEGER NOT NULL, PRIMARY KEY (tenant, text)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS routes (
    tenant TEXT NOT NULL, id TEXT NOT NULL, json TEXT NOT NULL, at TEXT NOT NULL, PRIMARY KEY (tenant, id)
  ) STRICT;`

export async function openDatabase(folder: string, clock: Clock): Promise<Database> {
  const path = join(folder, 'routes.db')
  makePrivateFile(path)
  const sqlite = new DatabaseSync(path)
  const retry = createRetry()
  await retry(() => sqlite.exec(tables))
  await retry(() => updateNameKeys(sqlite))
  const now = (): string => new Date(clock.now()).toISOString()
  const columns = 'id, name, address, lat, lon, saved_at AS savedAt'
  const all = sqlite.prepare(`SELECT ${columns} FROM destinations WHERE tenant = ? ORDER BY saved_at, name`)
  const one = sqlite.prepare(`SELECT ${columns} FROM destinations WHERE tenant = ? AND (folded = ? OR id = ?)`)
  const known = sqlite.prepare('SELECT 1 FROM destinations WHERE tenant = ? AND id = ?')
  const put = sqlite.prepare(`INSERT INTO destinations (tenant, id, folded, name, address, lat, lon, saved_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, id) DO UPDATE SET folded = excluded.folded, name = excluded.name, address = excluded.address,
      lat = excluded.lat, lon = excluded.lon, saved_at = excluded.saved_at`)
  const count = sqlite.prepare('SELECT count(*) AS n FROM destinations WHERE tenant = ?')
  const drop = sqlite.prepare('DELETE FROM destinations WHERE tenant = ? AND id = ?')
  const place = sqlite.prepare('SELECT name, lat, lon FROM places WHERE tenant = ? AND text = ? AND found_at > ?')
  const putPlace = sqlite.prepare('INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?, ?)')
  const putRoute = sqlite.prepare('INSERT OR REPLACE INTO routes VALUES (?, ?, ?, ?)')
  const trim = sqlite.prepare(`DELETE FROM routes WHERE tenant = ? AND rowid NOT IN
    (SELECT rowid FROM routes WHERE tenant = ? ORDER BY rowid DESC LIMIT ${maxRoutes})`)
  const route = sqlite.prepare('SELECT json FROM routes WHERE tenant = ? AND id = ?')
  const recent = sqlite.prepare('SELECT id, at FROM routes WHERE tenant = ? ORDER BY rowid DESC')
  async function access<T>(work: () => T): Promise<T> {
    try {
      return await retry(work)
    } catch (thrown) {
      if (isTaken(thrown)) throw thrown
      throw new RouteError({ code: 'STORAGE_UNAVAILABLE' }, thrown)
    }
  }
  /** Writes all or nothing: a lock is hit at the beginning, before anything was written. */
  const write = <T>(work: () => T): Promise<T> =>
    access(() => {
      sqlite.exec('BEGIN IMMEDIATE')
      try {
        const done = work()
        sqlite.exec('COMMIT')
        return done
      } catch (thrown) {
        if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
        throw thrown
      }
    })
  return {
    sqlite,
    destinations: (tenant) => access(() => all.all(tenant) as unknown as readonly Destination[]),
    destination: (tenant, nameOrId) =>
      access(() => one.get(tenant, nameKey(nameOrId), nameOrId) as unknown as Destination | undefined),
    async save(tenant, { id = randomUUID(), name, address, lat, lon }) {
      const savedAt = now()
      try {
        const isSaved = await write(() => {
          const isNew = known.get(tenant, id) === undefined
          if (isNew && Number(count.get(tenant)?.['n']) >= maxDestinations) return false
          put.run(tenant, id, nameKey(name), name, address, lat, lon, savedAt)
          return true
        })
        if (!isSaved) return 'full'
      } catch (thrown) {
        if (isTaken(thrown)) return 'taken'
        throw thrown
      }
      return { id, name, address, lat, lon, savedAt }
    },
    remove: async (tenant, id) => (await write(() => drop.run(tenant, id))).changes > 0,
    findPlace: (tenant, text) =>
      access(() => place.get(tenant, nameKey(text), clock.now() - placeTtlMs) as unknown as Place | undefined),
    async savePlace(tenant, text, { name, lat, lon }) {
      await write(() => putPlace.run(tenant, nameKey(text), name, lat, lon, clock.now()))
    },
    async saveRoute(tenant, id, json) {
      await write(() => {
        putRoute.run(tenant, id, json, now())
        trim.run(tenant, tenant)
      })
    },
    findRoute: (tenant, id) => access(() => route.get(tenant, id)?.['json'] as string | undefined),
    routes: (tenant) => access(() => recent.all(tenant) as unknown as readonly { id: string; at: string }[]),
    close: () => sqlite.close(),
  }
}

/** Version 1 has the keys of `nameKey`. Earlier ones dropped all letters but a to z, so cached places may be wrong. */
function updateNameKeys(sqlite: DatabaseSync): void {
  sqlite.exec('BEGIN IMMEDIATE')
  try {
    if (Number(sqlite.prepare('PRAGMA user_version').get()?.['user_version']) < 1) {
      const update = sqlite.prepare('UPDATE OR IGNORE destinations SET folded = ? WHERE tenant = ? AND id = ?')
      for (const { tenant, id, name } of sqlite.prepare('SELECT tenant, id, name FROM destinations').all())
        update.run(nameKey(String(name)), String(tenant), String(id))
      sqlite.exec('DELETE FROM places; PRAGMA user_version = 1')
    }
    sqlite.exec('COMMIT')
  } catch (thrown) {
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    throw thrown
  }
}

/** Returns whether another row has that name. */
const isTaken = (thrown: unknown): boolean => thrown instanceof Error && /UNIQUE constraint failed/.test(thrown.message)
