/** Stores the labelled memories with their vectors, and counts the questions that find their answer. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { chunk } from '../../servers/memory/dist/chunk.js'
import { createEmbedder } from '../../servers/memory/dist/embeddings/embedder.js'
import type { EmbeddingModel } from '../../servers/memory/dist/embeddings/model.js'
import { fuse } from '../../servers/memory/dist/fuse.js'
import { sqliteArchive } from '../../servers/memory/dist/sqlite/archive.js'
import { wordsOf } from '../../servers/memory/dist/words.js'
import { formatNumber, progress } from './figures.ts'
import { type Kind, type LabelledSet, labelled } from './labelled.ts'

export const kinds: readonly Kind[] = ['same words', 'same meaning', 'name']
export const modes = ['words', 'vectors', 'hybrid'] as const
export type Mode = (typeof modes)[number]
/** The right answer must be among this many. */
export const within = 10

export interface Recall {
  readonly memories: number
  readonly questions: number
  /** Per cent, by mode. */
  readonly whole: Readonly<Record<Mode, number>>
  /** Rows of a table: a mode, its recall by kind of question, and the whole. */
  readonly rows: readonly (readonly string[])[]
  readonly bytesPerVector: number
  readonly embeddedPerSecond: number
  readonly searchP95: number
}

export async function measureRecall(model: EmbeddingModel, facts: number, noise: number): Promise<Recall> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-recall-'))
  const path = join(folder, 'memory.db')
  const archive = sqliteArchive(path, model.clock)
  try {
    const embedder = createEmbedder(model)
    await archive.useVectors(model.model)
    const workspace = await archive.workspace('default', 'default')
    if (!workspace) throw new Error('no workspace')
    const { memories, questions }: LabelledSet = labelled(facts, noise)
    progress(`memory: storing and embedding ${memories.length} with ${model.model}`)
    const ids = memories.map(() => crypto.randomUUID())
    for (let at = 0; at < memories.length; at += 500)
      await workspace.add(
        memories.slice(at, at + 500).map((text, index) => ({
          ...{ id: ids[at + index] ?? '', text, source: undefined, tags: [], metadata: '{}', at: at + index },
          chunks: chunk(text),
        })),
      )
    const plainBytes = sizeOf(path)
    const begun = performance.now()
    for (;;) {
      const pieces = await workspace.unembedded(model.batchSize)
      if (pieces.length === 0) break
      const vectors = await embedder.embed(
        'default',
        pieces.map(({ text }) => text),
        60_000,
      )
      await workspace.embed(pieces.map(({ piece }, at) => ({ piece, vector: vectors[at] })))
    }
    const embedMs = performance.now() - begun
    const vectorBytes = sizeOf(path) - plainBytes

    progress(`memory: ${questions.length} questions with known answers`)
    const found = new Map<string, number>()
    const taken: number[] = []
    for (const { ask, kind, answer } of questions) {
      const [vector] = await embedder.embed('default', [ask], 60_000)
      if (!vector) throw new Error('no vector')
      const start = performance.now()
      const words = await workspace.searchText(wordsOf(ask), { tags: [] }, 50)
      const near = await workspace.searchVectors(vector, { tags: [] }, 50)
      const rankings = {
        words: fuse([words], within),
        vectors: fuse([near], within),
        hybrid: fuse([words, near], within),
      }
      taken.push(performance.now() - start)
      for (const mode of modes) {
        const memories = await workspace.read(rankings[mode])
        if ([...memories.values()].some(({ id }) => id === ids[answer]))
          for (const key of [`${mode} ${kind}`, mode]) found.set(key, (found.get(key) ?? 0) + 1)
      }
    }
    const recall = (key: string, of: number): number => (100 * (found.get(key) ?? 0)) / of
    const whole = {
      words: recall('words', questions.length),
      vectors: recall('vectors', questions.length),
      hybrid: recall('hybrid', questions.length),
    }
    taken.sort((a, b) => a - b)
    return {
      ...{ memories: memories.length, questions: questions.length, whole },
      rows: modes.map((mode) => [
        mode,
        ...kinds.map((kind) => formatNumber(recall(`${mode} ${kind}`, facts))),
        formatNumber(whole[mode]),
      ]),
      bytesPerVector: vectorBytes / memories.length,
      embeddedPerSecond: memories.length / (embedMs / 1000),
      searchP95: taken[Math.floor(taken.length * 0.95)] ?? Number.NaN,
    }
  } finally {
    await archive.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Includes the write-ahead log. */
function sizeOf(path: string): number {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return statSync(path).size
}
