/** Memories in PostgreSQL, shared by any number of servers. */

import type { Archive, Workspace } from '../archive.ts'
import { defaultWorkspace } from '../archive.ts'
import { makeVectors, migrate } from './schema.ts'
import type { Postgres, Row, Sql } from './sql.ts'
import { mapErrors } from './sql.ts'
import type { VectorLengthStore } from './workspace.ts'
import { openWorkspace } from './workspace.ts'

const schema = 'sluice_memory'

export async function postgresArchive(postgres: Postgres, clock: { now(): number }): Promise<Archive> {
  await mapErrors(migrate(postgres))
  const fact = async (sql: Sql, name: string): Promise<string | undefined> => {
    const [row] = await sql.query(`SELECT value FROM ${schema}.facts WHERE name = $1`, [name])
    return row && String(row['value'])
  }
  const setFact = async (sql: Sql, name: string, value: string): Promise<void> => {
    await sql.query(
      `INSERT INTO ${schema}.facts VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
      [name, value],
    )
  }
  const extent: VectorLengthStore = {
    vectorLength: async (sql) => Number((await fact(sql, 'vector length')) ?? 0),
    saveVectorLength: (sql, length) => setFact(sql, 'vector length', String(length)),
  }
  const handle = (n: unknown, tenant: string, id: string): Workspace =>
    openWorkspace(postgres, extent, Number(n), tenant, id)
  const find = async (tenant: string, id: string): Promise<Row | undefined> =>
    (
      await mapErrors(postgres.query(`SELECT n FROM ${schema}.workspaces WHERE tenant = $1 AND id = $2`, [tenant, id]))
    )[0]
  const create = async (
    tenant: string,
    id: string,
    name: string,
    description: string,
    at: number,
  ): Promise<boolean> => {
    const rows = await mapErrors(
      postgres.query(
        `INSERT INTO ${schema}.workspaces (tenant, id, name, description, created) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO NOTHING RETURNING n`,
        [tenant, id, name, description, at],
      ),
    )
    return rows.length > 0
  }

  return {
    async workspace(tenant, id) {
      let row = await find(tenant, id)
      if (!row && id === defaultWorkspace) {
        await create(tenant, id, 'Default', '', clock.now())
        row = await find(tenant, id)
      }
      return row && handle(row['n'], tenant, id)
    },
    createWorkspace: (tenant, { id, name, description, createdAt }) => create(tenant, id, name, description, createdAt),
    async listWorkspaces(tenant) {
      const rows = await mapErrors(
        postgres.query(
          `SELECT id, name, description, created,
             (SELECT count(*) FROM ${schema}.memories m WHERE m.workspace = w.n) AS memories
           FROM ${schema}.workspaces w WHERE tenant = $1 ORDER BY n`,
          [tenant],
        ),
      )
      return rows.map((row) => ({
        id: String(row['id']),
        name: String(row['name']),
        description: String(row['description']),
        createdAt: Number(row['created']),
        memories: Number(row['memories']),
      }))
    },
    async deleteWorkspace(tenant, id) {
      const rows = await mapErrors(
        postgres.query(`DELETE FROM ${schema}.workspaces WHERE tenant = $1 AND id = $2 RETURNING n`, [tenant, id]),
      )
      return rows.length > 0
    },
    async unembedded() {
      const rows = await mapErrors(
        postgres.query(
          `SELECT n, tenant, id FROM ${schema}.workspaces w
           WHERE EXISTS (SELECT 1 FROM ${schema}.chunks c WHERE c.workspace = w.n AND c.embedded = 0)`,
        ),
      )
      return rows.map((row) => handle(row['n'], String(row['tenant']), String(row['id'])))
    },
    async useVectors(model) {
      if (!(await makeVectors(postgres))) return false
      await mapErrors(
        postgres.transaction(async (sql) => {
          // The service may accept by now what it rejected before, so each start asks once more.
          if ((await fact(sql, 'embedding model')) === model) {
            await sql.query(`UPDATE ${schema}.chunks SET embedded = 0 WHERE embedded = 2`)
            return
          }
          await sql.query(`DELETE FROM ${schema}.vectors`)
          await sql.query(`UPDATE ${schema}.chunks SET embedded = 0 WHERE embedded <> 0`)
          await setFact(sql, 'vector length', '0')
          await setFact(sql, 'embedding model', model)
        }),
      )
      return true
    },
    close: () => postgres.close(),
  }
}
