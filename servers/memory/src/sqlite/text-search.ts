/**
 * Full-text search in one workspace, in a time that hardly grows with it.
 *
 * `bm25()` scores every match, and first counts all matches of a word. So a word in every tenth memory takes ten times
 * as long in ten times the memories. Words with more than `commonWordMatches` matches therefore count as common. Rare
 * words are ranked by `bm25()`, completely. A common word adds its weight to the matches of rare ones. If that gives
 * too few results, common words are searched where all of them occur together, and in their newest matches. Words in a
 * tenth of all memories say nothing beside rarer ones and are ignored.
 */

import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Filters, Hit } from '../archive.ts'
import { variantsOf } from '../words.ts'
import { bindFilters } from './filters.ts'
import { matchesFilters, wordsTable } from './schema.ts'

/** A word with more matches is common. */
const commonWordMatches = 500
/** This many matches of rare words may still be reordered by common ones. */
const maxReordered = 400
const noiseShare = 0.1
/** Common words whose weight is cached. */
const maxCachedWords = 2000

export type TextSearch = (words: readonly string[], filters: Filters, limit: number) => readonly Hit[]

interface Word {
  readonly quoted: string
  readonly common: boolean
  /** The share of all chunks that contain the word, estimated from the newest matches; 0 for a rare one. */
  readonly share: number
  /** The weight of a word in BM25. Only known for common words, because `bm25()` computes it for the others. */
  readonly weight: number
}

export function createTextSearch(database: DatabaseSync, workspace: number): TextSearch {
  const table = wordsTable(workspace)
  const prepare = (filter: string): Statements => {
    const matching = `FROM ${table} WHERE ${table} MATCH :match ${filter}`
    return {
      floor: database.prepare(`SELECT rowid ${matching} ORDER BY rowid DESC LIMIT 1 OFFSET ${commonWordMatches}`),
      newest: database.prepare(`SELECT rowid ${matching} ORDER BY rowid DESC LIMIT ${commonWordMatches}`),
      all: database.prepare(`SELECT rowid ${matching}`),
      best: database.prepare(
        `SELECT rowid, -bm25(${table}) AS score ${matching} ORDER BY score DESC LIMIT ${maxReordered}`,
      ),
    }
  }
  const open = prepare('')
  let filtered: Statements | undefined
  const size = database.prepare(
    `SELECT (SELECT chunks FROM workspaces WHERE n = ${workspace}) AS pieces,
            (SELECT rowid FROM ${table} ORDER BY rowid LIMIT 1) AS oldest,
            (SELECT rowid FROM ${table} ORDER BY rowid DESC LIMIT 1) AS newest`,
  )
  const places = database.prepare(
    'SELECT n, memory, start, end FROM chunks WHERE n IN (SELECT value FROM json_each(?))',
  )

  /** Common words stay common: a cached weight is valid until the workspace is a fifth larger or smaller. */
  const known = new Map<string, { readonly word: Word; readonly pieces: number }>()
  function recallOrTell(find: Find, text: string, extent: SqliteRow): Word {
    const [pieces, kept] = [Number(extent['pieces']), known.get(text)]
    if (kept && Math.abs(pieces - kept.pieces) < kept.pieces / 5) return kept.word
    const word = weighWord(find, text, extent)
    if (known.size >= maxCachedWords) known.clear()
    if (word.common) known.set(text, { word, pieces })
    return word
  }

  return function searchText(words, filters, limit) {
    const bound = bindFilters(filters, workspace)
    if (bound) filtered ??= prepare(`AND EXISTS (${matchingChunk(table)})`)
    const find = finder(bound && filtered ? filtered : open, bound ?? {})
    const extent = size.get() ?? {}
    const weighed = words.map((word) => (bound ? weighWord : recallOrTell)(find, word, extent))
    const telling = weighed.filter(({ share }) => share < noiseShare)
    const rare = telling.filter(({ common }) => !common)
    const common = telling.filter((word) => word.common)

    const scores = rare.length > 0 ? rankRare(find, rare, common) : new Map<number, number>()
    const fill = (more: readonly Word[]): void => {
      for (const [piece, score] of rankCommon(find, more)) if (!scores.has(piece)) scores.set(piece, score)
    }
    if (scores.size < limit && common.length > 0) fill(common)
    // No significant word matches, so the ignored words decide.
    if (scores.size === 0) fill(rarestNoiseWords(weighed))
    // Of equal scores, the newer chunk comes first.
    const order = [...scores].sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(0, limit)
    return toHits(order, places.all(JSON.stringify(order.map(([piece]) => piece))))
  }
}

interface Statements {
  readonly floor: StatementSync
  readonly newest: StatementSync
  readonly all: StatementSync
  readonly best: StatementSync
}
type SqliteRow = Record<string, unknown>
type Find = (kind: keyof Statements, match: string) => readonly SqliteRow[]

const finder =
  (statements: Statements, bound: Record<string, SQLInputValue>): Find =>
  (kind, match) =>
    statements[kind].all({ ...bound, match })

const matchingChunk = (table: string): string =>
  `SELECT 1 FROM chunks c JOIN memories m ON m.n = c.memory WHERE c.n = ${table}.rowid AND ${matchesFilters}`

const pieceOf = (row: SqliteRow): number => Number(row['rowid'])

function weighWord(find: Find, word: string, { pieces, oldest, newest }: SqliteRow): Word {
  const quoted = `(${variantsOf(word)
    .map((form) => `"${form.replaceAll('"', '""')}"`)
    .join(' OR ')})`
  const [floor] = find('floor', quoted)
  if (!floor) return { quoted, common: false, share: 0, weight: 0 }
  // This many of the newest chunks were scanned for `commonWordMatches` matches; the older ones are assumed to be
  // similar.
  const passed = (Number(newest) - pieceOf(floor) + 1) / (Number(newest) - Number(oldest) + 1)
  const share = Math.min(1, commonWordMatches / (passed * Number(pieces)))
  return { quoted, common: true, share, weight: Math.max(1e-6, Math.log((1 - share) / share)) }
}

/** Of the ignored words, returns the two rarest. */
const rarestNoiseWords = (words: readonly Word[]): readonly Word[] =>
  words
    .filter(({ share }) => share >= noiseShare)
    .sort((a, b) => a.share - b.share)
    .slice(0, 2)

function rankRare(find: Find, rare: readonly Word[], common: readonly Word[]): Map<number, number> {
  const any = rare.map(({ quoted }) => quoted).join(' OR ')
  const scores = new Map(find('best', any).map((row) => [pieceOf(row), Number(row['score'])]))
  for (const { quoted, weight } of common)
    for (const row of find('all', `(${any}) AND ${quoted}`)) {
      const score = scores.get(pieceOf(row))
      if (score !== undefined) scores.set(pieceOf(row), score + weight)
    }
  return scores
}

function rankCommon(find: Find, common: readonly Word[]): Map<number, number> {
  const scores = new Map<number, number>()
  for (const { quoted, weight } of common)
    for (const row of find('newest', quoted)) scores.set(pieceOf(row), (scores.get(pieceOf(row)) ?? 0) + weight)
  const together = common.reduce((sum, { weight }) => sum + weight, 0)
  if (common.length > 1)
    for (const row of find('newest', common.map(({ quoted }) => quoted).join(' AND ')))
      scores.set(pieceOf(row), together)
  return scores
}

function toHits(order: readonly (readonly [number, number])[], rows: readonly SqliteRow[]): readonly Hit[] {
  const places = new Map(rows.map((row) => [Number(row['n']), row]))
  return order.flatMap(([piece, score]) => {
    const row = places.get(piece)
    if (!row) return []
    return [{ piece, memory: Number(row['memory']), start: Number(row['start']), end: Number(row['end']), score }]
  })
}
