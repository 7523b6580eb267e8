/** The contract of the archive, on SQLite and on a real PostgreSQL. */

import { join } from 'node:path'
import { postgresDatabase } from 'sluice/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../../test/kit/processes/postgres.ts'
import type { Activity } from '../src/activity.ts'
import type { Archive } from '../src/archive.ts'
import { createArchive } from '../src/archive.ts'
import { toNight } from '../src/night.ts'
import { archiveFrom } from '../src/open.ts'
import { connectPostgres } from '../src/postgres.ts'
import { sqliteFile } from '../src/sqlite.ts'
import { syntheticYear } from '../src/synthetic.ts'
import { aFolder, now } from './server.fixture.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 180_000)
afterAll(() => server?.stop())

const an = (more: Partial<Activity> = {}): Activity => ({
  ...{
    id: 'a',
    provider: 'files',
    sport: 'run',
    name: 'Run',
    startedAt: 1_700_000_000,
    durationS: 3000,
    distanceM: 10_000,
    elevationM: 50,
  },
  ...{ averageHr: 150, maxHr: undefined, averagePower: undefined, calories: 600 },
  ...more,
})

describe.each(['sqlite', 'postgres'])('%s', (kind) => {
  let tenants = 0
  const opened = async (): Promise<Archive> =>
    createArchive(kind === 'sqlite' ? sqliteFile(join(aFolder(), 'a.db')) : await connectPostgres(server.url))
  /** The tests share PostgreSQL's tables, so each uses its own tenant. */
  const aTenant = (): string => `tenant-${++tenants}`

  test('added activities are there unchanged, newest first, and counted', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    const [first, second] = [an(), an({ id: 'b', startedAt: 1_700_100_000, averageHr: undefined })]
    expect(await log.add([first, second])).toBe(2)
    expect(await log.list()).toEqual([second, first])
    expect(await log.get('a')).toEqual(first)
    expect(await log.get('c')).toBeUndefined()
    expect(await log.count({ before: 1_700_050_000 })).toBe(1)
    expect(await log.list({ after: 1_700_050_000, sport: 'run', provider: 'files', limit: 1 })).toEqual([second])
    expect(await log.list({ offset: 1 })).toEqual([first])
    await archive.close()
  })

  test('the same activity from another file counts as known', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    expect(await log.add([an()])).toBe(1)
    expect(await log.add([an(), an({ id: 'other', startedAt: 1_700_000_012 })])).toBe(0)
    expect(await log.add([an({ id: 'ride', sport: 'ride' })])).toBe(1)
    await archive.close()
  })

  test('tenants do not see each other, whatever their names', async () => {
    const archive = await opened()
    const [a, b] = [aTenant(), aTenant()]
    await archive.forTenant(a).add([an()])
    await archive.forTenant(a).setGoal({
      id: 'g',
      title: 't',
      type: 'distance',
      target: 1,
      from: '2026-01-01',
      until: '2026-02-01',
      sport: undefined,
    })
    await archive.forTenant(a).connect('strava', 'sealed', 1)
    await archive.forTenant(a).touch('x', 5)
    for (const other of [b, `${a}%`, `${a}' OR '1'='1`, '']) {
      const log = archive.forTenant(other)
      expect(await log.list()).toEqual([])
      expect(await log.get('a')).toBeUndefined()
      expect(await log.goals()).toEqual([])
      expect(await log.connection('strava')).toBeUndefined()
      expect(await log.lastActive('x')).toBeUndefined()
      expect(await log.deleteActivities('files')).toBe(0)
    }
    expect(await archive.forTenant(a).count()).toBe(1)
    await archive.close()
  })

  test('athlete, goals, connections and last visits are stored and replaced', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    expect((await log.athlete()).ftp).toBe(220)
    await log.updateAthlete((before) => ({ ...before, ftp: 300 }))
    expect(await log.updateAthlete((before) => ({ ...before, ftp: before.ftp + 10 }))).toMatchObject({ ftp: 310 })
    expect((await log.athlete()).ftp).toBe(310)
    await log.connect('strava', 'one', 1)
    await log.connect('strava', 'two', 2)
    expect(await log.connection('strava')).toEqual({ sealed: 'two', at: 2 })
    expect([await log.disconnect('strava'), await log.disconnect('strava')]).toEqual([true, false])
    await log.touch('x', 5)
    await log.touch('x', 9)
    expect(await log.lastActive('x')).toBe(9)
    await archive.close()
  })

  test('the NUL character in a name or an id is an error nowhere', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    expect(await log.add([an({ name: 'a\0b' }), an({ id: 'c', startedAt: 1_700_100_000 })])).toBe(2)
    expect(await log.get('a\0b')).toBeUndefined()
    expect((await log.get('a'))?.name).toMatch(/^a[\0\ufffd]b$/)
    await archive.close()
  })

  test('concurrent changes of one night and of the athlete lose nothing', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    const [day, provider] = ['2026-11-16', 'files'] as const
    const parts = [{ asleepS: 3600 }, { restingHr: 50 }, { hrvMs: 60 }, { deepS: 600 }, { deviceScore: 70 }]
    const counts = await Promise.all(parts.map((part) => log.addNights([toNight({ day, provider, ...part })])))
    expect(counts.reduce((a, b) => a + b, 0)).toBe(1)
    expect(await log.nights(9)).toMatchObject([Object.assign({}, ...parts)])
    const changes = [{ ftp: 300 }, { name: 'Al' }, { maxHr: 200 }, { restingHr: 44 }]
    await Promise.all(changes.map((change) => log.updateAthlete((before) => ({ ...before, ...change }))))
    expect(await log.athlete()).toMatchObject(Object.assign({}, ...changes))
    await archive.close()
  })

  test('a made-up night never replaces a measured one, which replaces a made-up one', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    const [day, other] = ['2026-11-16', '2026-11-15']
    await log.addNights([toNight({ day, provider: 'files', asleepS: 1 })])
    const made = [day, other].map((day) => toNight({ day, provider: 'synthetic', asleepS: 2 }))
    expect(await log.addNights(made)).toBe(1)
    expect(await log.nights(9)).toMatchObject([{ provider: 'files', asleepS: 1 }, { provider: 'synthetic' }])
    expect(await log.addNights([toNight({ day: other, provider: 'files', asleepS: 3 })])).toBe(1)
    expect(await log.nights(9)).toMatchObject([{ asleepS: 1 }, { provider: 'files', asleepS: 3 }])
    await archive.close()
  })

  test('a year is added once, however often and by however many concurrent callers', async () => {
    const archive = await opened()
    const log = archive.forTenant(aTenant())
    const year = syntheticYear('a', now)
    const counts = await Promise.all([log.add(year), log.add(year), log.add(year)])
    expect(counts.reduce((a, b) => a + b, 0)).toBe(await log.count())
    expect(await log.deleteActivities('synthetic')).toBeGreaterThan(350)
    await archive.close()
  })
})

test('an account needs no rights on other schemas, and none to create once the tables are there', async () => {
  const admin = postgresDatabase({ url: server.url })
  await admin.query('CREATE DATABASE apart')
  const urlOf = (role: string): string => server.url.replace('sluice@/postgres', `${role}@/apart`)
  const owner = postgresDatabase({ url: urlOf('sluice') })
  await owner.query('CREATE ROLE app LOGIN; CREATE ROLE guest LOGIN; GRANT CREATE ON DATABASE apart TO app')
  await (await connectPostgres(urlOf('app'))).close()
  await owner.query(`GRANT USAGE ON SCHEMA sluice_fitness TO guest;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sluice_fitness TO guest`)
  const archive = createArchive(await connectPostgres(urlOf('guest')))
  expect(await archive.forTenant('a').add([an()])).toBe(1)
  await archive.close()
  await owner.query('INSERT INTO sluice_fitness.versions VALUES (99)')
  await expect(connectPostgres(urlOf('guest'))).rejects.toThrow('written by a newer Sluice (schema 99)')
  await owner.close()
  await admin.close()
})

test('an unreachable PostgreSQL is reported at the start, without its password', async () => {
  const env = { FITNESS_POSTGRES: 'postgresql://anna:hush-hush@127.0.0.1:1/fitness' }
  const opened = await archiveFrom({ folder: aFolder(), env }).catch((thrown: unknown) => thrown)
  expect(String(opened)).toMatch(/^Error: Cannot use the database that FITNESS_POSTGRES names: .*ECONNREFUSED/)
  expect(String(opened)).not.toContain('hush')
})
