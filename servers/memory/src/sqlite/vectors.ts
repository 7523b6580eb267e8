/** The vectors of one workspace's chunks in sqlite-vec: an exact scan, one byte per number. */

import type { DatabaseSync } from 'node:sqlite'
import type { Filters, Hit, PieceVector } from '../archive.ts'
import { bindFilters } from './filters.ts'
import { createVectors, matchesFilters, vectorsTable } from './schema.ts'

export interface Vectors {
  put(vectors: readonly PieceVector[], length: number): void
  remove(pieces: readonly number[]): void
  search(vector: Float32Array, filters: Filters, limit: number): readonly Hit[]
}

export function openVectors(database: DatabaseSync, workspace: number): Vectors {
  const table = vectorsTable(workspace)
  /** The first vector creates the table, because the length is unknown before. */
  const isThere = (): boolean => database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table) !== undefined
  return {
    put(vectors, length) {
      if (length > 0) database.exec(createVectors(workspace, length))
      // Does nothing if the chunk was deleted in the meantime, or embedded by another process.
      const mark = database.prepare(
        `UPDATE chunks SET embedded = ? WHERE n = ? AND embedded = 0
           AND EXISTS (SELECT 1 FROM memories m WHERE m.n = chunks.memory AND m.workspace = ${workspace})`,
      )
      const insert = length > 0 && database.prepare(`INSERT INTO ${table} (piece, vector) VALUES (?, vec_int8(?))`)
      for (const { piece, vector } of vectors)
        if (mark.run(vector ? 1 : 2, piece).changes === 1 && vector && insert)
          insert.run(BigInt(piece), quantized(vector))
    },
    remove(pieces) {
      if (pieces.length === 0 || !isThere()) return
      const remove = database.prepare(`DELETE FROM ${table} WHERE piece = ?`)
      for (const piece of pieces) remove.run(BigInt(piece))
    },
    search(vector, filters, limit) {
      if (!isThere()) return []
      const bound = bindFilters(filters, workspace)
      const among = `AND piece IN (SELECT c.n FROM chunks c JOIN memories m ON m.n = c.memory WHERE m.workspace = ${workspace} AND ${matchesFilters})`
      const near = database.prepare(
        `SELECT c.n AS piece, c.memory, c.start, c.end, 1 - v.distance AS score
         FROM (SELECT piece, distance FROM ${table} WHERE vector MATCH vec_int8(:vector) AND k = :limit ${bound ? among : ''}) v
         JOIN chunks c ON c.n = v.piece ORDER BY score DESC, piece DESC`,
      )
      return near.all({ ...bound, vector: quantized(vector), limit }).map((row) => ({
        piece: Number(row['piece']),
        memory: Number(row['memory']),
        start: Number(row['start']),
        end: Number(row['end']),
        score: Number(row['score']),
      }))
    },
  }
}

/** Scales each vector to the range of a byte; cosine depends on the direction only. */
function quantized(vector: Float32Array): Uint8Array {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const bytes = new Int8Array(vector.length)
  for (let at = 0; at < vector.length; at++) bytes[at] = Math.round(((vector[at] ?? 0) * 127) / largest)
  return new Uint8Array(bytes.buffer)
}
