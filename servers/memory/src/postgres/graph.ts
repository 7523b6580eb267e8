/** The graph of one workspace in PostgreSQL. */

import type { Entity, NewEntity, Relation, Workspace } from '../archive.ts'
import { foldName } from '../archive.ts'
import type { Postgres, Row, Sql } from './sql.ts'
import { mapErrors } from './sql.ts'

type Graph = Pick<
  Workspace,
  'relate' | 'entity' | 'relationsOf' | 'entities' | 'relations' | 'entitiesBy' | 'graphCounts'
>

const schema = 'sluice_memory'

export function openGraph(postgres: Postgres, n: number): Graph {
  const rows = (text: string, ...values: readonly unknown[]): Promise<readonly Row[]> =>
    mapErrors(postgres.query(text, [n, ...values]))
  async function put(sql: Sql, { name, type }: NewEntity): Promise<unknown> {
    const [row] = await sql.query(
      `INSERT INTO ${schema}.entities (workspace, folded, name, type) VALUES ($1, $2, $3, coalesce($4::text, 'thing'))
       ON CONFLICT (workspace, folded) DO UPDATE SET type = coalesce($4::text, ${schema}.entities.type) RETURNING n`,
      [n, foldName(name), name.normalize('NFC').trim(), type ?? null],
    )
    return row?.['n']
  }
  return {
    relate: ({ from, type, to, confidence }) =>
      mapErrors(
        postgres.transaction(async (sql) => {
          // The order is fixed: otherwise two calls that relate the same entities in opposite directions would
          // deadlock.
          const inOrder = [from, to].sort((a, b) => (foldName(a.name) < foldName(b.name) ? -1 : 1))
          const keys = new Map<NewEntity, unknown>()
          for (const entity of inOrder) keys.set(entity, await put(sql, entity))
          const [row] = await sql.query(
            `INSERT INTO ${schema}.relations (workspace, source, type, target, confidence) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (workspace, source, type, target) DO UPDATE SET confidence = excluded.confidence
             RETURNING (xmax = 0) AS created`,
            [n, keys.get(from), type, keys.get(to), confidence],
          )
          return row?.['created'] === true
        }),
      ),
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
  }
}

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
