/** The server's own file: saved destinations, places found before, routes to read again. A tenant sees only its own rows. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Clock } from 'sluice'
import { makePrivateFile } from 'sluice/node'
import { RouteError } from './failure.ts'
import { fold } from './offline/places.ts'
import type { Place } from './route.ts'

export interface Destination extends Place {
  readonly id: string
  readonly address: string
  readonly savedAt: string
}

export interface Database {
  destinations(tenant: string): readonly Destination[]
  /** By its name (accents and case do not matter) or its id. */
  destination(tenant: string, nameOrId: string): Destination | undefined
  /** False where another of that name is saved already. */
  save(tenant: string, destination: Omit<Destination, 'id' | 'savedAt'> & { readonly id?: string }): Destination | false
  remove(tenant: string, id: string): boolean
  /** Where a name was last found, for as long as that may be trusted. */
  placeOf(tenant: string, text: string): Place | undefined
  remember(tenant: string, text: string, place: Place): void
  keepRoute(tenant: string, id: string, json: string): void
  routeOf(tenant: string, id: string): string | undefined
  routes(tenant: string): readonly { readonly id: string; readonly at: string }[]
  readonly sqlite: DatabaseSync
  close(): void
}

const keepPlacesMs = 30 * 24 * 3600 * 1000
const keepRoutes = 100

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

export function openDatabase(folder: string, clock: Clock): Database {
  const path = join(folder, 'routes.db')
  makePrivateFile(path)
  const sqlite = new DatabaseSync(path)
  sqlite.exec(tables)
  const now = (): string => new Date(clock.now()).toISOString()
  const columns = 'id, name, address, lat, lon, saved_at AS savedAt'
  const all = sqlite.prepare(`SELECT ${columns} FROM destinations WHERE tenant = ? ORDER BY saved_at, name`)
  const one = sqlite.prepare(`SELECT ${columns} FROM destinations WHERE tenant = ? AND (folded = ? OR id = ?)`)
  const put = sqlite.prepare(`INSERT INTO destinations (tenant, id, folded, name, address, lat, lon, saved_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (tenant, id) DO UPDATE SET folded = excluded.folded, name = excluded.name, address = excluded.address,
      lat = excluded.lat, lon = excluded.lon, saved_at = excluded.saved_at`)
  const drop = sqlite.prepare('DELETE FROM destinations WHERE tenant = ? AND id = ?')
  const place = sqlite.prepare('SELECT name, lat, lon FROM places WHERE tenant = ? AND text = ? AND found_at > ?')
  const putPlace = sqlite.prepare('INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?, ?)')
  const putRoute = sqlite.prepare('INSERT OR REPLACE INTO routes VALUES (?, ?, ?, ?)')
  const trim = sqlite.prepare(`DELETE FROM routes WHERE tenant = ? AND rowid NOT IN
    (SELECT rowid FROM routes WHERE tenant = ? ORDER BY rowid DESC LIMIT ${keepRoutes})`)
  const route = sqlite.prepare('SELECT json FROM routes WHERE tenant = ? AND id = ?')
  const recent = sqlite.prepare('SELECT id, at FROM routes WHERE tenant = ? ORDER BY rowid DESC')
  const write = <T>(work: () => T): T => {
    try {
      return work()
    } catch (thrown) {
      if (isTaken(thrown)) throw thrown
      throw new RouteError({ code: 'STORAGE_UNAVAILABLE' }, thrown)
    }
  }
  return {
    sqlite,
    destinations: (tenant) => all.all(tenant) as unknown as readonly Destination[],
    destination: (tenant, nameOrId) => one.get(tenant, fold(nameOrId), nameOrId) as unknown as Destination | undefined,
    save(tenant, { id = randomUUID(), name, address, lat, lon }) {
      const savedAt = now()
      try {
        write(() => put.run(tenant, id, fold(name), name, address, lat, lon, savedAt))
      } catch (thrown) {
        if (isTaken(thrown)) return false
        throw thrown
      }
      return { id, name, address, lat, lon, savedAt }
    },
    remove: (tenant, id) => write(() => drop.run(tenant, id)).changes > 0,
    placeOf: (tenant, text) =>
      place.get(tenant, fold(text), clock.now() - keepPlacesMs) as unknown as Place | undefined,
    remember: (tenant, text, { name, lat, lon }) => {
      write(() => putPlace.run(tenant, fold(text), name, lat, lon, clock.now()))
    },
    keepRoute(tenant, id, json) {
      write(() => putRoute.run(tenant, id, json, now()))
      write(() => trim.run(tenant, tenant))
    },
    routeOf: (tenant, id) => route.get(tenant, id)?.['json'] as string | undefined,
    routes: (tenant) => recent.all(tenant) as unknown as readonly { id: string; at: string }[],
    close: () => sqlite.close(),
  }
}

/** Another row has that name. */
const isTaken = (thrown: unknown): boolean => thrown instanceof Error && /UNIQUE constraint failed/.test(thrown.message)
