/**
 * The memory server with embeddings: their cost, and whether both rankings together find at least what the better one
 * finds alone. The service is the tests' double, on this machine, with 384 numbers per vector. Its meanings are made
 * up, so the recall measures the fusion of the rankings, not a model.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { chunk } from '../../../servers/memory/dist/chunk.js'
import { createEmbedder } from '../../../servers/memory/dist/embeddings/embedder.js'
import { wires } from '../../../servers/memory/dist/embeddings/wire.js'
import { fuse } from '../../../servers/memory/dist/fuse.js'
import { sqliteArchive } from '../../../servers/memory/dist/sqlite/archive.js'
import { wordsOf } from '../../../servers/memory/dist/words.js'
import { startEmbeddings, vectorLength } from '../../../test/kit/processes/embedding-service.ts'
import { formatNumber, progress, type Section } from '../../lib/figures.ts'
import { type Kind, labelled } from '../../lib/labelled.ts'

const kinds: readonly Kind[] = ['same words', 'same meaning', 'name']
const modes = ['words', 'vectors', 'hybrid'] as const
const within = 10
const facts = 400
const noise = 9_600

export async function memoryEmbeddings(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-embeddings-'))
  const service = await startEmbeddings()
  const closing = new AbortController()
  const clock = { now: () => Date.now(), after: () => () => {} }
  const path = join(folder, 'memory.db')
  const archive = sqliteArchive(path, clock)
  try {
    const settings = {
      wire: wires.openai,
      url: `${service.url}/v1`,
      model: 'double',
      key: undefined,
      clock,
      fetch,
      closing: closing.signal,
    }
    const embedder = createEmbedder(settings)
    await archive.useVectors('double')
    const workspace = await archive.workspace('default', 'default')
    if (!workspace) throw new Error('no workspace')
    const { memories, questions } = labelled(facts, noise)
    progress(`memory: storing and embedding ${memories.length}`)
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
      const pieces = await workspace.unembedded(64)
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
    const recall = (mode: string, of: number): number => (100 * (found.get(mode) ?? 0)) / of
    const whole = Object.fromEntries(modes.map((mode) => [mode, recall(mode, questions.length)]))
    const better = Math.max(whole['words'] ?? 0, whole['vectors'] ?? 0)
    taken.sort((a, b) => a - b)
    const p95 = taken[Math.floor(taken.length * 0.95)]
    return {
      figures: {
        recall: whole,
        bytesPerVector: vectorBytes / memories.length,
        searchP95: p95,
        embeddedPerSecond: Math.round(memories.length / (embedMs / 1000)),
      },
      tables: [
        {
          title: `memory with embeddings: right answer among the first ${within}, per cent`,
          notes: [
            `${memories.length} memories, ${questions.length} questions; ${vectorLength} numbers a vector, kept as bytes`,
            'the service is a double with made-up meanings: this measures the fusion, not a model',
          ],
          columns: ['', ...kinds, 'all'],
          rows: modes.map((mode) => [
            mode,
            ...kinds.map((kind) => formatNumber(recall(`${mode} ${kind}`, facts))),
            formatNumber(whole[mode]),
          ]),
        },
        {
          title: 'memory with embeddings: what they cost',
          columns: ['', ''],
          rows: [
            ['bytes on disk a vector', formatNumber(vectorBytes / memories.length)],
            ['embedded and stored per second, with the double', formatNumber(memories.length / (embedMs / 1000))],
            [`both searches in ${memories.length}, p95, ms`, formatNumber(p95)],
          ],
        },
      ],
      goals: [
        {
          figure: 'memory: hybrid recall, points above the better ranking',
          atLeast: -2,
          unit: '',
          measured: (whole['hybrid'] ?? 0) - better,
        },
      ],
    }
  } finally {
    closing.abort()
    await archive.close()
    await service.stop()
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
