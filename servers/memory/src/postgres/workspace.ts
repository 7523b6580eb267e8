/** One workspace in PostgreSQL. Every query contains its number, which belongs to one tenant. */

import type { Filters, Hit, Memory, NewMemory, Workspace } from '../archive.ts'
import { checkedVectorLength, maxListedText, VectorLengthMismatch, withTextRange } from '../archive.ts'
import { foldAccents, onlyWords, variantsOf } from '../words.ts'
import { openGraph } from './graph.ts'
import type { Postgres, Row, Sql } from './sql.ts'
import { mapErrors } from './sql.ts'

const schema = 'sluice_memory'
/** Stems English, and keeps every word. */
const parser = `${schema}.words`

/** For rows of `memories m`; parameters $2 to $5. */
const matchesFilters = `($2::text[] IS NULL OR m.tags && $2::text[]) AND ($3::text IS NULL OR m.source = $3)
  AND ($4::bigint IS NULL OR m.at >= $4) AND ($5::bigint IS NULL OR m.at <= $5)`
const bindFilters = ({ tags, source, from, to }: Filters): readonly unknown[] => [
  tags.length > 0 ? tags : null,
  source ?? null,
  from ?? null,
  to ?? null,
]

export interface VectorLengthStore {
  /** The length of the stored vectors; 0 if there are none. */
  vectorLength(sql: Sql): Promise<number>
  saveVectorLength(sql: Sql, length: number): Promise<void>
}

export function openWorkspace(
  postgres: Postgres,
  extent: VectorLengthStore,
  n: number,
  tenant: string,
  id: string,
): Workspace {
  async function add(sql: Sql, { id, at, source, tags, metadata, text, chunks }: NewMemory): Promise<boolean> {
    const [row] = await sql.query(
      `INSERT INTO ${schema}.memories (workspace, id, at, source, tags, metadata, text) VALUES ($1, $2, $3, $4, $5, $6, $7)
       ON CONFLICT DO NOTHING RETURNING n`,
      [n, id, at, source ?? null, tags, metadata, text],
    )
    if (!row) return false
    await sql.query(
      `INSERT INTO ${schema}.chunks (workspace, memory, start, stop, words)
       SELECT $1, $2, t.start, t.stop, to_tsvector('${parser}', t.words)
       FROM unnest($3::int[], $4::int[], $5::text[]) AS t (start, stop, words)`,
      [
        n,
        row['n'],
        chunks.map(({ start }) => start),
        chunks.map(({ end }) => end),
        chunks.map(({ start, end }) => onlyWords(text.slice(start, end))),
      ],
    )
    return true
  }
  return {
    tenant,
    id,
    add: (memories) =>
      mapErrors(
        postgres.transaction(async (sql) => {
          const added: boolean[] = []
          // Two batches with the same ids in another order would otherwise wait for each other.
          if (memories.length > 1)
            await sql.query(`SELECT 1 FROM ${schema}.workspaces WHERE n = $1 FOR NO KEY UPDATE`, [n])
          for (const memory of memories) added.push(await add(sql, memory))
          return added
        }),
      ),
    async get(id) {
      const [row] = await mapErrors(
        postgres.query(`SELECT * FROM ${schema}.memories WHERE workspace = $1 AND id = $2`, [n, id]),
      )
      return row && toMemory(row)
    },
    async list({ filters, limit, after }) {
      const rows = await mapErrors(
        postgres.query(
          `SELECT n, id, at, source, tags, metadata, left(text, ${maxListedText}) AS text FROM ${schema}.memories m
             WHERE m.workspace = $1 AND ${matchesFilters}
             AND ($6::bigint IS NULL OR (m.at, m.n) < ($6, $7::bigint)) ORDER BY m.at DESC, m.n DESC LIMIT $8`,
          [n, ...bindFilters(filters), after?.at ?? null, after?.key ?? null, limit],
        ),
      )
      return rows.map(toMemory)
    },
    async walk(after, limit, maxBytes) {
      const some = `SELECT * FROM ${schema}.memories WHERE workspace = $1 AND n > $2 ORDER BY n LIMIT $3`
      const before = 'sum(octet_length(text)) OVER (ORDER BY n) - octet_length(text)'
      const text = `SELECT * FROM (SELECT *, ${before} AS before FROM (${some}) page) found WHERE before < $4 ORDER BY n`
      return (await mapErrors(postgres.query(text, [n, after, limit, maxBytes]))).map(toMemory)
    },
    async delete(id) {
      const rows = await mapErrors(
        postgres.query(`DELETE FROM ${schema}.memories WHERE workspace = $1 AND id = $2 RETURNING n`, [n, id]),
      )
      return rows.length > 0
    },
    clear: () =>
      mapErrors(
        postgres.transaction(async (sql) => {
          for (const table of ['memories', 'relations', 'entities'])
            await sql.query(`DELETE FROM ${schema}.${table} WHERE workspace = $1`, [n])
        }),
      ),
    async counts() {
      const [row] = await mapErrors(
        postgres.query(
          `SELECT count(*) AS memories, coalesce(sum(octet_length(text)), 0) AS bytes, min(at) AS oldest, max(at) AS newest,
             (SELECT count(*) FROM ${schema}.chunks WHERE workspace = $1) AS chunks,
             (SELECT count(*) FROM ${schema}.chunks WHERE workspace = $1 AND embedded = 1) AS embedded
           FROM ${schema}.memories WHERE workspace = $1`,
          [n],
        ),
      )
      const dateOf = (value: unknown): number | undefined =>
        value === null || value === undefined ? undefined : Number(value)
      return {
        memories: Number(row?.['memories']),
        chunks: Number(row?.['chunks']),
        textBytes: Number(row?.['bytes']),
        fileBytes: undefined,
        oldest: dateOf(row?.['oldest']),
        newest: dateOf(row?.['newest']),
        embedded: Number(row?.['embedded']),
      }
    },
    async searchText(words, filters, limit) {
      if (words.length === 0) return []
      const forms = words.flatMap(variantsOf)
      const asked = forms.map((_, at) => `phraseto_tsquery('${parser}', $${at + 7})`).join(' || ')
      return toHits(
        await mapErrors(
          postgres.query(
            `SELECT c.n AS piece, c.memory, c.start, c.stop, ts_rank(c.words, q.q, 1) AS score
             FROM (SELECT ${asked} AS q) q, ${schema}.chunks c JOIN ${schema}.memories m ON m.n = c.memory
             WHERE c.workspace = $1 AND c.words @@ q.q AND ${matchesFilters} ORDER BY score DESC, c.n DESC LIMIT $6`,
            [n, ...bindFilters(filters), limit, ...forms.map(foldAccents)],
          ),
        ),
      )
    },
    async searchVectors(vector, filters, limit) {
      const kept = await mapErrors(extent.vectorLength(postgres))
      if (kept !== 0 && kept !== vector.length) throw new VectorLengthMismatch(kept, vector.length)
      if (kept === 0) return []
      return toHits(
        await mapErrors(
          postgres.query(
            `SELECT c.n AS piece, c.memory, c.start, c.stop, 1 - (v.vector <=> $6::vector) AS score
             FROM ${schema}.vectors v JOIN ${schema}.chunks c ON c.n = v.piece JOIN ${schema}.memories m ON m.n = c.memory
             WHERE v.workspace = $1 AND ${matchesFilters} ORDER BY v.vector <=> $6::vector, c.n DESC LIMIT $7`,
            [n, ...bindFilters(filters), toVector(vector), limit],
          ),
        ),
      )
    },
    async read(hits) {
      const ranges = new Map(hits.map((hit) => [hit.memory, hit]))
      const keys = [...ranges.keys()]
      const rows = await mapErrors(
        postgres.query(`SELECT * FROM ${schema}.memories WHERE workspace = $1 AND n = ANY($2::bigint[])`, [n, keys]),
      )
      return new Map(rows.map((row) => [Number(row['n']), withTextRange(toMemory(row), ranges.get(Number(row['n'])))]))
    },
    async unembedded(limit) {
      const rows = await mapErrors(
        postgres.query(
          `SELECT c.n, c.start, c.stop, m.text FROM ${schema}.chunks c JOIN ${schema}.memories m ON m.n = c.memory
           WHERE c.workspace = $1 AND c.embedded = 0 ORDER BY c.n LIMIT $2`,
          [n, limit],
        ),
      )
      // Cut here, because PostgreSQL counts characters and our offsets count UTF-16 units.
      return rows.map((row) => ({
        piece: Number(row['n']),
        text: String(row['text']).slice(Number(row['start']), Number(row['stop'])),
      }))
    },
    embed: (vectors) =>
      mapErrors(
        postgres.transaction(async (sql) => {
          const kept = await extent.vectorLength(sql)
          const length = checkedVectorLength(vectors, kept)
          if (kept === 0 && length !== 0) await extent.saveVectorLength(sql, length)
          for (const { piece, vector } of vectors) {
            const marked = await sql.query(
              `UPDATE ${schema}.chunks SET embedded = $3 WHERE workspace = $1 AND n = $2 AND embedded = 0 RETURNING n`,
              [n, piece, vector ? 1 : 2],
            )
            if (marked.length > 0 && vector)
              await sql.query(`INSERT INTO ${schema}.vectors VALUES ($2, $1, $3::vector)`, [n, piece, toVector(vector)])
          }
        }),
      ),
    ...openGraph(postgres, n),
  }
}

const toVector = (vector: Float32Array): string => `[${vector.join(',')}]`

const toHits = (rows: readonly Row[]): readonly Hit[] =>
  rows.map((row) => ({
    piece: Number(row['piece']),
    memory: Number(row['memory']),
    start: Number(row['start']),
    end: Number(row['stop']),
    score: Number(row['score']),
  }))

const toMemory = (row: Row): Memory => ({
  key: Number(row['n']),
  id: String(row['id']),
  at: Number(row['at']),
  source: typeof row['source'] === 'string' ? row['source'] : undefined,
  tags: Array.isArray(row['tags']) ? row['tags'].map(String) : [],
  metadata: String(row['metadata']),
  text: String(row['text']),
})
