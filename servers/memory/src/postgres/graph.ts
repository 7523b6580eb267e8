/** The graph of one workspace in PostgreSQL. */

import type { Entity, NewEntity, NewRelation, Relation, WorkspaceGraph } from '../archive.ts'
import { foldName } from '../archive.ts'
import type { Postgres, Row, Sql } from './sql.ts'
import { mapErrors } from './sql.ts'

const schema = 'sluice_memory'

export function openGraph(postgres: Postgres, n: number): WorkspaceGraph {
  const rows = (text: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    mapErrors(postgres.query(text, [n, ...values]))
  async function put(sql: Sql, { name, type }: NewEntity): Promise<Row | undefined> {
    const [row] = await sql.query(
      `INSERT INTO ${schema}.entities (workspace, folded, name, type) VALUES ($1, $2, $3, coalesce($4::text, 'thing'))
       ON CONFLICT (workspace, folded) DO UPDATE SET type = coalesce($4::text, ${schema}.entities.type)
       RETURNING n, (xmax = 0) AS created`,
      [n, foldName(name), name.normalize('NFC').trim(), type ?? null],
    )
    return row
  }
  async function addRelation(
    sql: Sql,
    { type, confidence }: NewRelation,
    source: unknown,
    target: unknown,
  ): Promise<boolean> {
    const [row] = await sql.query(
      `INSERT INTO ${schema}.relations (workspace, source, type, target, confidence) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (workspace, source, type, target) DO UPDATE SET confidence = excluded.confidence
       RETURNING (xmax = 0) AS created`,
      [n, source, type, target, confidence],
    )
    return row?.['created'] === true
  }
  const addGraph: WorkspaceGraph['addGraph'] = ({ entities, relations }) =>
    mapErrors(
      postgres.transaction(async (sql) => {
        // The order is fixed: otherwise two calls that store the same entities in another order would deadlock.
        const inOrder = [...entities, ...relations.flatMap(({ from, to }) => [from, to])].sort((a, b) =>
          foldName(a.name) < foldName(b.name) ? -1 : 1,
        )
        const keys = new Map<string, unknown>()
        const created = new Set<string>()
        for (const entity of inOrder) {
          const row = await put(sql, entity)
          keys.set(foldName(entity.name), row?.['n'])
          // A second statement of this transaction sees the row of the first, and its `created` is then false.
          if (row?.['created'] === true) created.add(foldName(entity.name))
        }
        let added = 0
        for (const relation of relations) {
          const ends = [relation.from, relation.to].map(({ name }) => keys.get(foldName(name)))
          if (await addRelation(sql, relation, ends[0], ends[1])) added++
        }
        return { entities: created.size, relations: added }
      }),
    )
  return {
    async relate(relation) {
      const { relations } = await addGraph({ entities: [], relations: [relation] })
      return relations === 1
    },
    addGraph,
    async entity(nameOrId) {
      const [row] = await rows(
        `SELECT * FROM ${schema}.entities WHERE workspace = $1 AND (folded = $2 OR id::text = lower($3))
         ORDER BY folded = $2 DESC LIMIT 1`,
        foldName(nameOrId),
        nameOrId,
      )
      return row && toEntity(row)
    },
    relationsOf: async (keys, types) =>
      (
        await rows(
          `SELECT * FROM ${schema}.relations WHERE workspace = $1 AND (source = ANY($2::bigint[]) OR target = ANY($2::bigint[]))
             AND ($3::text[] IS NULL OR type = ANY($3::text[])) ORDER BY confidence DESC, n LIMIT 10000`,
          keys,
          types.length > 0 ? types : null,
        )
      ).map(toRelation),
    entities: async (after, limit) =>
      (
        await rows(`SELECT * FROM ${schema}.entities WHERE workspace = $1 AND n > $2 ORDER BY n LIMIT $3`, after, limit)
      ).map(toEntity),
    relations: async (after, limit) =>
      (
        await rows(
          `SELECT * FROM ${schema}.relations WHERE workspace = $1 AND n > $2 ORDER BY n LIMIT $3`,
          after,
          limit,
        )
      ).map(toRelation),
    entitiesBy: async (keys) =>
      (await rows(`SELECT * FROM ${schema}.entities WHERE workspace = $1 AND n = ANY($2::bigint[])`, keys)).map(
        toEntity,
      ),
    async graphCounts() {
      const types = await rows(
        `SELECT type, count(*) AS count FROM ${schema}.entities WHERE workspace = $1 GROUP BY type ORDER BY count DESC, type`,
      )
      const [related] = await rows(`SELECT count(*) AS count FROM ${schema}.relations WHERE workspace = $1`)
      return {
        entities: types.reduce((sum, row) => sum + Number(row['count']), 0),
        relations: Number(related?.['count']),
        types: Object.fromEntries(types.map((row) => [String(row['type']), Number(row['count'])])),
      }
    },
    async deleteUnrelated(dryRun) {
      const [row] = await rows(dryRun ? `SELECT count(*) AS count ${unrelated}` : deleteUnrelated)
      return Number(row?.['count'])
    },
  }
}

const unrelated = `FROM ${schema}.entities e WHERE e.workspace = $1
  AND NOT EXISTS (SELECT 1 FROM ${schema}.relations r WHERE r.workspace = $1 AND (r.source = e.n OR r.target = e.n))`
const deleteUnrelated = `WITH deleted AS (DELETE ${unrelated} RETURNING 1) SELECT count(*) AS count FROM deleted`

const toEntity = (row: Row): Entity => ({
  key: Number(row['n']),
  id: String(row['id']),
  name: String(row['name']),
  type: String(row['type']),
})

const toRelation = (row: Row): Relation => ({
  key: Number(row['n']),
  from: Number(row['source']),
  to: Number(row['target']),
  type: String(row['type']),
  confidence: Number(row['confidence']),
})
