/** Whether a PostgreSQL keeps what it acknowledged. Asked at start-up by what keeps tickets and keys there. */

import type { Statement } from './postgres-connection.ts'
import type { PostgresOptions } from './postgres-pool.ts'
import { createPool, schemaOf } from './postgres-pool.ts'

/**
 * Rejects if acknowledged writes can be lost (the message says what to set): `fsync` or `synchronous_commit` is off, the
 * table is unlogged, the server is a standby or read-only. Resolves with warnings.
 */
export async function checkPostgresDurability(options: PostgresOptions): Promise<readonly string[]> {
  // A standby must be able to say that it is one.
  const pool = createPool(options, { role: 'any', connections: 1 })
  try {
    const [row] = await pool.run(settings(schemaOf(options)))
    const found = Object.fromEntries(names.map((name, index) => [name, row?.[index] ?? ''])) as Found
    const faults = faultsIn(found)
    if (faults.length > 0)
      throw new Error(`This PostgreSQL cannot be trusted with tickets and keys: ${faults.join('; ')}`)
    return warningsIn(found)
  } finally {
    await pool.close()
  }
}

const names = ['standby', 'readOnly', 'fsync', 'commit', 'pages', 'standbys', 'persistence'] as const
type Found = Readonly<Record<(typeof names)[number], string>>

const settings = (schema: string): Statement => ({
  name: 'settings',
  text: `SELECT pg_is_in_recovery()::text, current_setting('default_transaction_read_only'), current_setting('fsync'),
    current_setting('synchronous_commit'), current_setting('full_page_writes'), current_setting('synchronous_standby_names'),
    (SELECT relpersistence::text FROM pg_class WHERE oid = to_regclass('${schema}.entries'))`,
})

function faultsIn({ standby, readOnly, fsync, commit, persistence }: Found): readonly string[] {
  const faults: string[] = []
  if (standby === 'true') faults.push('it is a standby: connect to the primary')
  else if (readOnly === 'on') faults.push('it is read-only: ALTER SYSTEM SET default_transaction_read_only = off')
  if (fsync !== 'on') faults.push('it does not wait for its disk, so a power cut forgets: ALTER SYSTEM SET fsync = on')
  if (commit === 'off')
    faults.push(
      'it acknowledges before it writes, so a crash forgets: ALTER ROLE … SET synchronous_commit = on (or ALTER SYSTEM)',
    )
  if (persistence === 'u') faults.push('its table is unlogged, so a crash empties it: ALTER TABLE … SET LOGGED')
  return faults
}

function warningsIn({ commit, pages, standbys }: Found): readonly string[] {
  const warnings: string[] = []
  if (pages !== 'on')
    warnings.push(
      'full_page_writes is off: a power cut may damage pages, except on a file system that writes them whole (ALTER SYSTEM SET full_page_writes = on)',
    )
  if (standbys !== '' && commit === 'local')
    warnings.push(
      'synchronous_commit is local: a failover may lose the last writes (SET synchronous_commit = on waits for the standby)',
    )
  return warnings
}
