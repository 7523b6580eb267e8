/**
 * One workspace in SQLite: its memories, chunks and words. Created once per process and workspace, with its statements.
 */

import type { DatabaseSync } from 'node:sqlite'
import type { Writer } from 'sluice/sqlite'
import type { Memory, NewMemory, Workspace } from '../archive.ts'
import {
  checkedVectorLength,
  maxListedText,
  VectorLengthMismatch,
  WorkspaceDeleted,
  withTextRange,
} from '../archive.ts'
import { spaceIdeographs } from '../words.ts'
import { everyFilter } from './filters.ts'
import { openGraph } from './graph.ts'
import { retryWhenBusy } from './retry.ts'
import { toBlob, toColumns, toMemory } from './rows.ts'
import { matchesFilters, vectorsTable, wordsTable } from './schema.ts'
import { createTextSearch } from './text-search.ts'
import { openVectors } from './vectors.ts'

export interface DatabaseFile {
  readonly database: DatabaseSync
  readonly writer: Writer
  /** Whether sqlite-vec is loaded. */
  readonly hasVectors: boolean
  /** The length of the stored vectors; 0 if there are none. */
  vectorLength(): number
  saveVectorLength(length: number): void
}

export function openWorkspace(file: DatabaseFile, n: number, tenant: string, id: string): Workspace {
  const { database, writer } = file
  const words = wordsTable(n)
  const sql = {
    alive: database.prepare(`SELECT 1 FROM workspaces WHERE n = ${n}`),
    count: database.prepare(
      `UPDATE workspaces SET memories = memories + ?, chunks = chunks + ?, bytes = bytes + ? WHERE n = ${n}`,
    ),
    add: database.prepare(
      `INSERT INTO memories (workspace, id, at, source, tags, metadata, text) VALUES (${n}, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING n`,
    ),
    tag: database.prepare(`INSERT OR IGNORE INTO tags VALUES (${n}, ?, ?)`),
    chunk: database.prepare('INSERT INTO chunks (memory, start, end) VALUES (?, ?, ?)'),
    words: database.prepare(`INSERT INTO ${words} (rowid, text) VALUES (?, ?)`),
    get: database.prepare(`SELECT * FROM memories WHERE workspace = ${n} AND id = ?`),
    // The plus keeps SQLite from scanning the whole workspace by its index instead of reading the named rows.
    read: database.prepare(`SELECT * FROM memories WHERE +workspace = ${n} AND n IN (SELECT value FROM json_each(?))`),
    list: database.prepare(
      `SELECT n, id, at, source, tags, metadata, substr(text, 1, ${maxListedText}) AS text FROM memories m
       WHERE m.workspace = :workspace AND ${matchesFilters}
         AND (:at IS NULL OR m.at < :at OR (m.at = :at AND m.n < :n)) ORDER BY m.at DESC, m.n DESC LIMIT :limit`,
    ),
    walk: database.prepare(`SELECT * FROM memories WHERE +workspace = ${n} AND n > ? ORDER BY n LIMIT ?`),
    pieces: database.prepare('SELECT n FROM chunks WHERE memory = ?'),
    counts: database.prepare(
      `SELECT memories, chunks, bytes, (SELECT min(at) FROM memories WHERE workspace = ${n}) AS oldest,
         (SELECT max(at) FROM memories WHERE workspace = ${n}) AS newest FROM workspaces WHERE n = ${n}`,
    ),
    size: database.prepare('SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size'),
    unembedded: database.prepare(
      `SELECT c.n AS piece, m.text, c.start, c.end FROM chunks c JOIN memories m ON m.n = c.memory
       WHERE c.embedded = 0 AND m.workspace = ${n} ORDER BY c.n LIMIT ?`,
    ),
    embedded: database.prepare(
      `SELECT count(*) AS count FROM chunks c JOIN memories m ON m.n = c.memory WHERE m.workspace = ${n} AND c.embedded = 1`,
    ),
  }
  const textSearch = createTextSearch(database, n)
  const vectors = openVectors(database, n)

  /** Checks under the lock that the workspace still exists: a deleted one has no table of words either. */
  async function write<T>(work: () => T): Promise<T> {
    const done = await writer.write(() => (sql.alive.get() ? { result: work() } : undefined))
    if (!done) throw new WorkspaceDeleted()
    return done.result
  }
  function add(memory: NewMemory): boolean {
    const key = sql.add.get(...toColumns(memory))?.['n']
    if (key === undefined) return false
    const { text, tags, chunks } = memory
    sql.count.run(1, chunks.length, Buffer.byteLength(text))
    for (const tag of tags) sql.tag.run(tag, Number(key))
    for (const { start, end } of chunks) {
      const { lastInsertRowid } = sql.chunk.run(Number(key), start, end)
      sql.words.run(lastInsertRowid, spaceIdeographs(text.slice(start, end)))
    }
    return true
  }
  function remove(id: string): boolean {
    const row = sql.get.get(toBlob(id))
    if (!row) return false
    const { key, text, tags } = toMemory(row)
    const pieces = sql.pieces.all(key).map((piece) => Number(piece['n']))
    sql.count.run(-1, -pieces.length, -Buffer.byteLength(text))
    const unword = database.prepare(`DELETE FROM ${words} WHERE rowid = ?`)
    for (const piece of pieces) unword.run(piece)
    if (file.hasVectors) vectors.remove(pieces)
    database.prepare('DELETE FROM chunks WHERE memory = ?').run(key)
    const untag = database.prepare(`DELETE FROM tags WHERE workspace = ${n} AND tag = ? AND memory = ?`)
    for (const tag of tags) untag.run(tag, key)
    database.prepare(`DELETE FROM memories WHERE workspace = ${n} AND n = ?`).run(key)
    return true
  }

  return retryWhenBusy({
    tenant,
    id,
    add: (memories) => write(() => memories.map(add)),
    async get(id) {
      const row = sql.get.get(toBlob(id))
      return row && toMemory(row)
    },
    async list({ filters, limit, after }) {
      const bound = { ...everyFilter(filters, n), at: after?.at ?? null, n: after?.key ?? null, limit }
      return sql.list.all(bound).map(toMemory)
    },
    async walk(after, limit, maxBytes) {
      const found: Memory[] = []
      let bytes = 0
      for (const row of sql.walk.iterate(after, limit)) {
        const memory = toMemory(row)
        found.push(memory)
        bytes += Buffer.byteLength(memory.text)
        if (bytes >= maxBytes) break
      }
      return found
    },
    delete: (id) => write(() => remove(id)),
    clear: () =>
      write(() => {
        database.exec(clearSql(n))
        database.exec(`INSERT INTO ${words} (${words}) VALUES ('delete-all')`)
        if (file.hasVectors) database.exec(`DROP TABLE IF EXISTS ${vectorsTable(n)}`)
      }),
    async counts() {
      const row = sql.counts.get() ?? {}
      const dateOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined)
      return {
        memories: Number(row['memories'] ?? 0),
        chunks: Number(row['chunks'] ?? 0),
        textBytes: Number(row['bytes'] ?? 0),
        fileBytes: tenant === 'default' ? Number(sql.size.get()?.['size']) : undefined,
        oldest: dateOf(row['oldest']),
        newest: dateOf(row['newest']),
        embedded: file.vectorLength() === 0 ? 0 : Number(sql.embedded.get()?.['count']),
      }
    },
    searchText: async (words, filters, limit) => textSearch(words, filters, limit),
    async searchVectors(vector, filters, limit) {
      const storedLength = file.vectorLength()
      if (storedLength !== 0 && storedLength !== vector.length)
        throw new VectorLengthMismatch(storedLength, vector.length)
      return storedLength === 0 ? [] : vectors.search(vector, filters, limit)
    },
    async read(hits) {
      const ranges = new Map(hits.map((hit) => [hit.memory, hit]))
      const found = new Map<number, Memory>()
      for (const row of sql.read.iterate(JSON.stringify([...ranges.keys()])))
        found.set(Number(row['n']), withTextRange(toMemory(row), ranges.get(Number(row['n']))))
      return found
    },
    async unembedded(limit) {
      return sql.unembedded.all(limit).map((row) => ({
        piece: Number(row['piece']),
        text: String(row['text']).slice(Number(row['start']), Number(row['end'])),
      }))
    },
    async embed(newVectors) {
      const length = checkedVectorLength(newVectors, file.vectorLength())
      await write(() => {
        if (length !== 0 && file.vectorLength() === 0) file.saveVectorLength(length)
        vectors.put(newVectors, length)
      })
    },
    ...openGraph(database, write, n),
  })
}

/** Deletes everything of a workspace from the shared tables. */
export const clearSql = (n: number): string =>
  `DELETE FROM chunks WHERE memory IN (SELECT n FROM memories WHERE workspace = ${n});
   DELETE FROM tags WHERE workspace = ${n};
   DELETE FROM memories WHERE workspace = ${n};
   DELETE FROM relations WHERE workspace = ${n};
   DELETE FROM entities WHERE workspace = ${n};
   UPDATE workspaces SET memories = 0, chunks = 0, bytes = 0 WHERE n = ${n};`
