/** Converts our values to SQLite's columns and back. */

import type { SQLInputValue } from 'node:sqlite'
import type { Entity, Memory, NewMemory, Relation } from '../archive.ts'

export type SqliteRow = Record<string, unknown>

/** Sixteen bytes instead of thirty-six characters, in the table and in its index. */
export const toBlob = (uuid: string): Uint8Array => Buffer.from(uuid.replaceAll('-', ''), 'hex')
const fromBlob = (blob: unknown): string =>
  Buffer.from(blob instanceof Uint8Array ? blob : [])
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

export const toColumns = ({ id, at, source, tags, metadata, text }: NewMemory): readonly SQLInputValue[] => [
  toBlob(id),
  at,
  source ?? null,
  tags.length > 0 ? JSON.stringify(tags) : null,
  metadata === '{}' ? null : metadata,
  text,
]

export const toMemory = (row: SqliteRow): Memory => ({
  key: Number(row['n']),
  id: fromBlob(row['id']),
  at: Number(row['at']),
  source: textOf(row['source']),
  tags: row['tags'] === null ? [] : (JSON.parse(String(row['tags'])) as readonly string[]),
  metadata: textOf(row['metadata']) ?? '{}',
  text: String(row['text']),
})

export const toEntity = (row: SqliteRow): Entity => ({
  key: Number(row['n']),
  id: fromBlob(row['id']),
  name: String(row['name']),
  type: String(row['type']),
})

export const toRelation = (row: SqliteRow): Relation => ({
  key: Number(row['n']),
  from: Number(row['source']),
  to: Number(row['target']),
  type: String(row['type']),
  confidence: Number(row['confidence']),
})

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
