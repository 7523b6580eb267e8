/** The graph of one workspace in SQLite. Entities are unique by folded name, relations by both ends and type. */

import { randomUUID } from 'node:crypto'
import type { DatabaseSync } from 'node:sqlite'
import type { Writer } from 'sluice/sqlite'
import type { NewEntity, NewRelation, WorkspaceGraph } from '../archive.ts'
import { foldName } from '../archive.ts'
import { toBlob, toEntity, toRelation } from './rows.ts'

export function openGraph(database: DatabaseSync, write: Writer['write'], workspace: number): WorkspaceGraph {
  const sql = {
    addEntity: database.prepare(
      `INSERT INTO entities (workspace, id, folded, name, type) VALUES (${workspace}, ?, ?, ?, coalesce(?, 'thing'))
       ON CONFLICT DO UPDATE SET type = coalesce(?, type) RETURNING n`,
    ),
    addRelation: database.prepare(
      `INSERT INTO relations (workspace, source, type, target, confidence) VALUES (${workspace}, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET confidence = excluded.confidence`,
    ),
    hasRelation: database.prepare(
      `SELECT 1 FROM relations WHERE workspace = ${workspace} AND source = ? AND type = ? AND target = ?`,
    ),
    byName: database.prepare(`SELECT * FROM entities WHERE workspace = ${workspace} AND folded = ?`),
    byId: database.prepare(`SELECT * FROM entities WHERE workspace = ${workspace} AND id = ?`),
    at: database.prepare(
      `SELECT * FROM relations WHERE workspace = ${workspace}
         AND (source IN (SELECT value FROM json_each(:keys)) OR target IN (SELECT value FROM json_each(:keys)))
         AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types))) ORDER BY confidence DESC, n LIMIT 10000`,
    ),
    entities: database.prepare(`SELECT * FROM entities WHERE workspace = ${workspace} AND n > ? ORDER BY n LIMIT ?`),
    relations: database.prepare(`SELECT * FROM relations WHERE workspace = ${workspace} AND n > ? ORDER BY n LIMIT ?`),
    named: database.prepare(
      `SELECT * FROM entities WHERE +workspace = ${workspace} AND n IN (SELECT value FROM json_each(?))`,
    ),
    types: database.prepare(
      `SELECT type, count(*) AS count FROM entities WHERE workspace = ${workspace} GROUP BY type ORDER BY count DESC, type`,
    ),
    count: database.prepare(`SELECT count(*) AS count FROM entities WHERE workspace = ${workspace}`),
    unrelated: database.prepare(`SELECT count(*) AS count ${unrelated(workspace)}`),
    deleteUnrelated: database.prepare(`DELETE ${unrelated(workspace)}`),
    related: database.prepare(`SELECT count(*) AS count FROM relations WHERE workspace = ${workspace}`),
  }
  const put = ({ name, type }: NewEntity): number => {
    const trimmed = name.normalize('NFC').trim()
    return Number(sql.addEntity.get(toBlob(randomUUID()), foldName(name), trimmed, type ?? null, type ?? null)?.['n'])
  }
  const relate = ({ from, type, to, confidence }: NewRelation): boolean => {
    const [source, target] = [put(from), put(to)]
    const isNew = sql.hasRelation.get(source, type, target) === undefined
    sql.addRelation.run(source, type, target, confidence)
    return isNew
  }
  return {
    relate: (relation) => write(() => relate(relation)),
    addGraph: ({ entities, relations }) =>
      write(() => {
        const before = Number(sql.count.get()?.['count'])
        for (const entity of entities) put(entity)
        const added = relations.filter(relate)
        return { entities: Number(sql.count.get()?.['count']) - before, relations: added.length }
      }),
    async entity(nameOrId) {
      const row = sql.byName.get(foldName(nameOrId)) ?? (isUuid(nameOrId) ? sql.byId.get(toBlob(nameOrId)) : undefined)
      return row && toEntity(row)
    },
    relationsOf: async (keys, types) =>
      sql.at
        .all({ keys: JSON.stringify(keys), types: types.length > 0 ? JSON.stringify(types) : null })
        .map(toRelation),
    entities: async (after, limit) => sql.entities.all(after, limit).map(toEntity),
    relations: async (after, limit) => sql.relations.all(after, limit).map(toRelation),
    entitiesBy: async (keys) => sql.named.all(JSON.stringify(keys)).map(toEntity),
    async graphCounts() {
      const types = sql.types.all().map((row) => [String(row['type']), Number(row['count'])] as const)
      return {
        entities: types.reduce((sum, [, count]) => sum + count, 0),
        relations: Number(sql.related.get()?.['count']),
        types: Object.fromEntries(types),
      }
    },
    deleteUnrelated: async (dryRun) =>
      dryRun ? Number(sql.unrelated.get()?.['count']) : write(() => Number(sql.deleteUnrelated.run().changes)),
  }
}

const unrelated = (workspace: number): string =>
  `FROM entities WHERE workspace = ${workspace}
     AND n NOT IN (SELECT source FROM relations WHERE workspace = ${workspace})
     AND n NOT IN (SELECT target FROM relations WHERE workspace = ${workspace})`

const isUuid = (text: string): boolean => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
