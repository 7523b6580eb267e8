/**
 * The storage of everything, one tenant at a time. A `TrainingLog` is bound to a tenant when it is opened, and none of
 * its methods takes another. So the data of another tenant cannot be named.
 */

import type { Activity, Athlete, Goal, ProviderName, Sport } from './activity.ts'
import { defaultAthlete, fingerprintOf } from './activity.ts'
import type { Night } from './night.ts'
import { mergeNights } from './night.ts'
import type { Sql, SqlRow, SqlValue } from './sql.ts'

export interface ActivityQuery {
  readonly provider?: ProviderName | undefined
  readonly sport?: Sport | undefined
  /** Seconds since the epoch. */
  readonly before?: number | undefined
  readonly after?: number | undefined
  readonly limit?: number
  readonly offset?: number
}

export interface TrainingLog {
  readonly tenant: string
  /** Returns the number of new activities. A known activity stays unchanged. */
  add(activities: readonly Activity[]): Promise<number>
  /** Newest first. */
  list(query?: ActivityQuery): Promise<readonly Activity[]>
  count(query?: ActivityQuery): Promise<number>
  get(id: string): Promise<Activity | undefined>
  deleteActivities(provider: ProviderName): Promise<number>
  /** Returns the number of new nights. A known night keeps what the new one does not have. */
  addNights(nights: readonly Night[]): Promise<number>
  /** Newest first. */
  nights(limit: number): Promise<readonly Night[]>
  athlete(): Promise<Athlete>
  /** Stores what `change` makes of the stored values, and returns it. Concurrent changes are applied one after the other. */
  updateAthlete(change: (before: Athlete) => Athlete): Promise<Athlete>
  goals(): Promise<readonly Goal[]>
  setGoal(goal: Goal): Promise<void>
  /** The data of a connection, encrypted by the caller. */
  connection(provider: ProviderName): Promise<Connection | undefined>
  connect(provider: ProviderName, sealed: string, at: number): Promise<void>
  disconnect(provider: ProviderName): Promise<boolean>
  /** The range of the provider's history that was read; `undefined` before the first sync. */
  synced(provider: ProviderName): Promise<SyncedRange | undefined>
  setSynced(provider: ProviderName, synced: SyncedRange): Promise<void>
  /** A sign-in of this subject that waits for its code, encrypted. */
  pending(subject: string): Promise<string | undefined>
  setPending(subject: string, sealed: string): Promise<void>
  /** Replaces it if it is still `from`. Returns whether it was. */
  changePending(subject: string, from: string, to: string): Promise<boolean>
  deletePending(subject: string): Promise<void>
  touch(subject: string, at: number): Promise<void>
  lastActive(subject: string): Promise<number | undefined>
}
/** All of the provider's activities between these two times are stored. In seconds since the epoch. */
export interface SyncedRange {
  /** 0 once the whole history is stored. */
  readonly completeBackTo: number
  readonly completeUntil: number
}
export interface Connection {
  readonly sealed: string
  readonly at: number
}

export interface Archive {
  /** Returns the tenants that have activities or nights, at most a hundred. */
  tenants(): Promise<readonly string[]>
  forTenant(tenant: string): TrainingLog
  close(): Promise<void>
}

const columns = [
  ...['tenant', 'id', 'provider', 'fingerprint', 'sport', 'name', 'started_at', 'duration_s', 'distance_m'],
  ...['elevation_m', 'average_hr', 'max_hr', 'average_power', 'calories'],
] as const
const insert = `INSERT INTO sluice_fitness.activities (${columns.join(', ')})
  VALUES (${columns.map((_, at) => `$${at + 1}`).join(', ')}) ON CONFLICT DO NOTHING`

/** Rows per transaction. More would block other writers for too long. */
const batchRows = 200
/** Rows per read. More would block the event loop for tens of milliseconds. */
const pageRows = 500

export const createArchive = (sql: Sql): Archive => ({
  async tenants() {
    const rows = await sql.query(
      'SELECT tenant FROM sluice_fitness.activities UNION SELECT tenant FROM sluice_fitness.nights ORDER BY tenant LIMIT 100',
    )
    return rows.map(({ tenant }) => String(tenant))
  },
  forTenant: (tenant) => createTrainingLog(sql, tenant),
  close: () => sql.close(),
})

function createTrainingLog(sql: Sql, tenant: string): TrainingLog {
  const json = async <T>(text: string, values: readonly SqlValue[]): Promise<readonly T[]> =>
    (await sql.query(text, values)).map(({ json }) => JSON.parse(String(json)) as T)
  /** Changes a row by its JSON. If another call changed it after it was read, it is read again, so that neither is lost. */
  async function swap<T>(
    select: string,
    key: readonly SqlValue[],
    toChange: (
      before: T | undefined,
      stored: string | undefined,
    ) => readonly [string, readonly SqlValue[]] | 'unchanged',
  ): Promise<void> {
    for (;;) {
      const [row] = await sql.query(select, key)
      const stored = row && String(row['json'])
      const change = toChange(stored === undefined ? undefined : (JSON.parse(stored) as T), stored)
      if (change === 'unchanged' || (await sql.execute(...change)) > 0) return
    }
  }
  return {
    tenant,
    async add(activities) {
      let added = 0
      for (let from = 0; from < activities.length; from += batchRows) {
        const changes = activities
          .slice(from, from + batchRows)
          .map((each) => [insert, valuesOf(tenant, each)] as const)
        for (const count of await sql.transaction(changes)) added += count
      }
      return added
    },
    async list(query = {}) {
      const { limit = Number.POSITIVE_INFINITY } = query
      let offset = query.offset ?? 0
      const found: Activity[] = []
      for (let last: Activity | undefined; found.length < limit; ) {
        const { where, values } = conditions(tenant, query, last)
        const size = Math.min(pageRows, limit - found.length)
        const page = `LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
        const text = `SELECT * FROM sluice_fitness.activities WHERE ${where} ORDER BY started_at DESC, id ${page}`
        const rows = await sql.query(text, [...values, size, offset])
        found.push(...rows.map(toActivity))
        if (rows.length < size) break
        last = found.at(-1)
        offset = 0
      }
      return found
    },
    async count(query = {}) {
      const { where, values } = conditions(tenant, query)
      const [row] = await sql.query(`SELECT COUNT(*) AS n FROM sluice_fitness.activities WHERE ${where}`, values)
      return Number(row?.['n'] ?? 0)
    },
    async get(id) {
      const [row] = await sql.query('SELECT * FROM sluice_fitness.activities WHERE tenant = $1 AND id = $2', [
        tenant,
        id,
      ])
      return row && toActivity(row)
    },
    async deleteActivities(provider) {
      const some = 'SELECT id FROM sluice_fitness.activities WHERE tenant = $1 AND provider = $2 LIMIT $3'
      const text = `DELETE FROM sluice_fitness.activities WHERE tenant = $1 AND id IN (${some})`
      let removed = 0
      for (let count = pageRows; count === pageRows; removed += count)
        count = await sql.execute(text, [tenant, provider, pageRows])
      await sql.execute('DELETE FROM sluice_fitness.nights WHERE tenant = $1 AND provider = $2', [tenant, provider])
      await sql.execute('DELETE FROM sluice_fitness.syncs WHERE tenant = $1 AND provider = $2', [tenant, provider])
      return removed
    },
    async addNights(nights) {
      let added = 0
      for (const night of nights) {
        let isNew = false
        await swap<Night>(
          'SELECT json FROM sluice_fitness.nights WHERE tenant = $1 AND day = $2',
          [tenant, night.day],
          (before, stored) => {
            // A measured night replaces a made-up one, and is never replaced by one.
            if (night.provider === 'synthetic' && before && before.provider !== 'synthetic') return 'unchanged'
            const known = before?.provider === night.provider ? before : undefined
            const values = [tenant, night.day, night.provider, JSON.stringify(mergeNights(known, night))]
            isNew = !known
            return stored === undefined
              ? ['INSERT INTO sluice_fitness.nights VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING', values]
              : [
                  'UPDATE sluice_fitness.nights SET provider = $3, json = $4 WHERE tenant = $1 AND day = $2 AND json = $5',
                  [...values, stored],
                ]
          },
        )
        if (isNew) added++
      }
      return added
    },
    nights: (limit) =>
      json<Night>('SELECT json FROM sluice_fitness.nights WHERE tenant = $1 ORDER BY day DESC LIMIT $2', [
        tenant,
        limit,
      ]),
    async athlete() {
      return (
        (await json<Athlete>('SELECT json FROM sluice_fitness.athletes WHERE tenant = $1', [tenant]))[0] ??
        defaultAthlete
      )
    },
    async updateAthlete(change) {
      let athlete = defaultAthlete
      await swap<Athlete>('SELECT json FROM sluice_fitness.athletes WHERE tenant = $1', [tenant], (before, stored) => {
        athlete = change(before ?? defaultAthlete)
        const values = [tenant, JSON.stringify(athlete)]
        return stored === undefined
          ? ['INSERT INTO sluice_fitness.athletes VALUES ($1, $2) ON CONFLICT DO NOTHING', values]
          : ['UPDATE sluice_fitness.athletes SET json = $2 WHERE tenant = $1 AND json = $3', [...values, stored]]
      })
      return athlete
    },
    goals: () => json<Goal>('SELECT json FROM sluice_fitness.goals WHERE tenant = $1 ORDER BY id', [tenant]),
    async setGoal(goal) {
      const text =
        'INSERT INTO sluice_fitness.goals VALUES ($1, $2, $3) ON CONFLICT (tenant, id) DO UPDATE SET json = excluded.json'
      await sql.execute(text, [tenant, goal.id, JSON.stringify(goal)])
    },
    async connection(provider) {
      const text = 'SELECT sealed, at FROM sluice_fitness.connections WHERE tenant = $1 AND provider = $2'
      const [row] = await sql.query(text, [tenant, provider])
      return row && { sealed: String(row['sealed']), at: Number(row['at']) }
    },
    async connect(provider, sealed, at) {
      const text = `INSERT INTO sluice_fitness.connections VALUES ($1, $2, $3, $4)
        ON CONFLICT (tenant, provider) DO UPDATE SET sealed = excluded.sealed, at = excluded.at`
      await sql.execute(text, [tenant, provider, sealed, at])
    },
    disconnect: async (provider) =>
      (await sql.execute('DELETE FROM sluice_fitness.connections WHERE tenant = $1 AND provider = $2', [
        tenant,
        provider,
      ])) > 0,
    async synced(provider) {
      return (
        await json<SyncedRange>('SELECT json FROM sluice_fitness.syncs WHERE tenant = $1 AND provider = $2', [
          tenant,
          provider,
        ])
      )[0]
    },
    async setSynced(provider, synced) {
      const text =
        'INSERT INTO sluice_fitness.syncs VALUES ($1, $2, $3) ON CONFLICT (tenant, provider) DO UPDATE SET json = excluded.json'
      await sql.execute(text, [tenant, provider, JSON.stringify(synced)])
    },
    async pending(subject) {
      const text = 'SELECT sealed FROM sluice_fitness.pending WHERE tenant = $1 AND subject = $2'
      const [row] = await sql.query(text, [tenant, subject])
      return row && String(row['sealed'])
    },
    async setPending(subject, sealed) {
      const text =
        'INSERT INTO sluice_fitness.pending VALUES ($1, $2, $3) ON CONFLICT (tenant, subject) DO UPDATE SET sealed = excluded.sealed'
      await sql.execute(text, [tenant, subject, sealed])
    },
    async changePending(subject, from, to) {
      const text = 'UPDATE pending SET sealed = $4 WHERE tenant = $1 AND subject = $2 AND sealed = $3'
      return (await sql.execute(text, [tenant, subject, from, to])) > 0
    },
    async deletePending(subject) {
      await sql.execute('DELETE FROM sluice_fitness.pending WHERE tenant = $1 AND subject = $2', [tenant, subject])
    },
    async touch(subject, at) {
      const text =
        'INSERT INTO sluice_fitness.active VALUES ($1, $2, $3) ON CONFLICT (tenant, subject) DO UPDATE SET at = excluded.at'
      await sql.execute(text, [tenant, subject, at])
    },
    async lastActive(subject) {
      const [row] = await sql.query('SELECT at FROM sluice_fitness.active WHERE tenant = $1 AND subject = $2', [
        tenant,
        subject,
      ])
      return row && Number(row['at'])
    },
  }
}

function conditions(
  tenant: string,
  { provider, sport, before, after }: ActivityQuery,
  behind?: Activity,
): { readonly where: string; readonly values: readonly SqlValue[] } {
  const values: SqlValue[] = [tenant]
  const also = (condition: string, value: SqlValue | undefined): string => {
    if (value === undefined) return ''
    values.push(value)
    return ` AND ${condition} $${values.length}`
  }
  const where = `tenant = $1${also('provider =', provider)}${also('sport =', sport)}${also('started_at <', before)}${also('started_at >=', after)}`
  if (!behind) return { where, values }
  values.push(behind.startedAt, behind.id)
  const [at, id] = [`$${values.length - 1}`, `$${values.length}`]
  return { where: `${where} AND (started_at < ${at} OR (started_at = ${at} AND id > ${id}))`, values }
}

const valuesOf = (tenant: string, each: Activity): readonly SqlValue[] => [
  ...[tenant, each.id, each.provider, fingerprintOf(each), each.sport, each.name],
  ...[Math.round(each.startedAt), each.durationS, each.distanceM, each.elevationM],
  ...[each.averageHr ?? null, each.maxHr ?? null, each.averagePower ?? null, each.calories ?? null],
]

function toActivity(row: SqlRow): Activity {
  const number = (column: string): number => Number(row[column])
  const perhaps = (column: string): number | undefined => (row[column] === null ? undefined : Number(row[column]))
  return {
    id: String(row['id']),
    provider: row['provider'] as ProviderName,
    sport: row['sport'] as Sport,
    name: String(row['name']),
    startedAt: number('started_at'),
    durationS: number('duration_s'),
    distanceM: number('distance_m'),
    elevationM: number('elevation_m'),
    averageHr: perhaps('average_hr'),
    maxHr: perhaps('max_hr'),
    averagePower: perhaps('average_power'),
    calories: perhaps('calories'),
  }
}
