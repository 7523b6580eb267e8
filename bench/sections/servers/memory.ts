/**
 * The memory server over stdio, one call at a time, as an agent uses it: the growth of a search from 10,000 to 100,000
 * memories, their size on disk, and the reference server with the same memories. Then with embeddings.
 *
 * `BENCH_MEMORIES=1000000` grows to a million, which takes minutes to fill.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import {
  formatFactor,
  formatInteger,
  formatNumber,
  interleave,
  median,
  progress,
  ratio,
  type Section,
} from '../../lib/figures.ts'
import { type Generated, memories, questions } from '../../lib/memories.ts'
import { openStdio, type StdioClient } from '../../lib/stdio-client.ts'

const main = fileURLToPath(new URL('../../../servers/memory/dist/main.js', import.meta.url))
/** It exports a program only, nothing to import by name. */
const peerMain = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')),
  'dist/index.js',
)

const { BENCH_MEMORIES } = process.env
const [few, many] = [10_000, Number(BENCH_MEMORIES ?? 100_000)]
const rounds = 21
const perRound = 100

const lineOf = ({ text, tags }: Generated): string =>
  `${JSON.stringify({ type: 'memory', text, metadata: { tags } })}\n`

/** The questions are about this many memories, spread over all. */
const sampled = 10_000

interface Filled {
  readonly ms: number
  readonly textBytes: number
  readonly sample: readonly Generated[]
}

/** Uses the server's own command, as a person imports old notes. */
async function fill(folder: string, count: number): Promise<Filled> {
  let textBytes = 0
  const sample: Generated[] = []
  function* lines(): Generator<string> {
    let at = 0
    for (const memory of memories(count, 1)) {
      textBytes += Buffer.byteLength(memory.text)
      if (at++ % Math.ceil(count / sampled) === 0) sample.push(memory)
      yield lineOf(memory)
    }
  }
  const begun = performance.now()
  const child = spawn(process.execPath, [main, 'import', '--data', folder], { stdio: ['pipe', 'ignore', 'ignore'] })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  await pipeline(Readable.from(lines()), child.stdin)
  const code = await exited
  if (code !== 0) throw new Error(`import ended with ${code}`)
  return { ms: performance.now() - begun, textBytes, sample }
}

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export async function memory(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-memory-'))
  const clients: StdioClient[] = []
  const start = async (args: readonly string[], env?: Record<string, string>): Promise<StdioClient> => {
    const client = await openStdio(args, env)
    clients.push(client)
    return client
  }
  try {
    const [small, large] = [join(folder, 'small'), join(folder, 'large')]
    progress(`memory: filling ${few} and ${many}`)
    const [ofFew, ofMany] = [await fill(small, few), await fill(large, many)]
    const fileBytes = statSync(join(large, 'servers/memory/memory.db')).size

    const growth = await measureGrowth(
      { client: await start([main, '--data', small]), about: ofFew.sample },
      { client: await start([main, '--data', large]), about: ofMany.sample },
    )
    const peerFile = join(folder, 'peer.jsonl')
    writeFileSync(
      peerFile,
      ofFew.sample
        .map(({ text }, at) =>
          JSON.stringify({ type: 'entity', name: `memory ${at}`, entityType: 'note', observations: [text] }),
        )
        .join('\n'),
    )
    const peer = await start([peerMain], { MEMORY_FILE_PATH: peerFile })
    const race = await measureRace(clients[0] as StdioClient, peer, ofFew.sample)
    const sizes = { textBytes: ofMany.textBytes, fileBytes, importPerSecond: many / (ofMany.ms / 1000) }
    return report(growth, race, sizes)
  } finally {
    for (const client of clients) await client.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Milliseconds, by round. */
interface Growth {
  readonly small: readonly (readonly number[])[]
  readonly large: readonly (readonly number[])[]
}

interface Searched {
  readonly client: StdioClient
  readonly about: readonly Generated[]
}

/** Sends the same kind of question to both in turn, so that both see the same machine; the first round warms up. */
async function measureGrowth(small: Searched, large: Searched): Promise<Growth> {
  const ask = {
    small: questions(rounds * perRound, small.about, 2),
    large: questions(rounds * perRound, large.about, 2),
  }
  const taken: { readonly small: number[][]; readonly large: number[][] } = { small: [], large: [] }
  for (let round = 0; round < rounds; round++) {
    progress(`memory: search, round ${round + 1} of ${rounds}`)
    const [ofSmall, ofLarge]: [number[], number[]] = [[], []]
    for (let at = round * perRound; at < (round + 1) * perRound; at++) {
      ofSmall.push((await small.client.call('search_memory', { query: ask.small[at] ?? '' })).ms)
      ofLarge.push((await large.client.call('search_memory', { query: ask.large[at] ?? '' })).ms)
    }
    if (round === 0) continue
    taken.small.push(ofSmall)
    taken.large.push(ofLarge)
  }
  return taken
}

interface Race {
  readonly search: readonly [ours: number, theirs: number]
  readonly write: readonly [ours: number, theirs: number]
}

/** One word each, which the reference server finds as a substring; both must find something. */
async function measureRace(ours: StdioClient, theirs: StdioClient, generated: readonly Generated[]): Promise<Race> {
  const words = generated.slice(0, 200).map(({ subject }) => subject[0] ?? '')
  const fresh = [...memories(400, 3)]
  let written = 0
  const sample = async (calls: number, call: (at: number) => Promise<unknown>): Promise<number> => {
    const begun = performance.now()
    for (let at = 0; at < calls; at++) await call(at)
    return calls / ((performance.now() - begun) / 1000)
  }
  const search = await interleave(['ours', 'theirs'] as const, 6, (name, round) =>
    sample(name === 'ours' ? 100 : 15, async (at) => {
      const query = words[(round * 15 + at) % words.length] ?? ''
      const { result } =
        name === 'ours' ? await ours.call('search_memory', { query }) : await theirs.call('search_nodes', { query })
      const found = result['structuredContent'] as { results?: unknown[]; entities?: unknown[] }
      if ((found.results ?? found.entities ?? []).length === 0) throw new Error(`nothing found for ${query}`)
    }),
  )
  const write = await interleave(['ours', 'theirs'] as const, 6, (name) =>
    sample(name === 'ours' ? 40 : 8, async () => {
      const { text = '', tags = [] } = fresh[written++ % fresh.length] ?? {}
      if (name === 'ours') await ours.call('add_memory', { text, metadata: { tags } })
      else
        await theirs.call('create_entities', {
          entities: [{ name: `new ${written}`, entityType: 'note', observations: [text] }],
        })
    }),
  )
  const of = (samples: Map<'ours' | 'theirs', number[]>): readonly [number, number] => [
    median((samples.get('ours') ?? []).slice(1)),
    median((samples.get('theirs') ?? []).slice(1)),
  ]
  return { search: of(search), write: of(write) }
}

interface Sizes {
  readonly textBytes: number
  readonly fileBytes: number
  readonly importPerSecond: number
}

function report(growth: Growth, race: Race, sizes: Sizes): Section {
  // Other work on the machine affects a round, not the figure.
  const p = (taken: readonly (readonly number[])[], share: number): number =>
    median(taken.map((round) => percentile(round, share)))
  const growthP95 = ratio(p(growth.large, 0.95), p(growth.small, 0.95))
  const perText = ratio(sizes.fileBytes, sizes.textBytes)
  const [searchTimes, writeTimes] = [ratio(...race.search), ratio(...race.write)]
  const row = (name: string, taken: readonly (readonly number[])[]): readonly string[] => [
    name,
    formatNumber(p(taken, 0.5)),
    formatNumber(p(taken, 0.95)),
  ]
  return {
    figures: {
      search: {
        small: { p50: p(growth.small, 0.5), p95: p(growth.small, 0.95) },
        large: { p50: p(growth.large, 0.5), p95: p(growth.large, 0.95) },
      },
      fileBytes: sizes.fileBytes,
      textBytes: sizes.textBytes,
      importPerSecond: formatInteger(sizes.importPerSecond),
      searchesPerSecond: { sluice: formatInteger(race.search[0]), 'server-memory': formatInteger(race.search[1]) },
      writesPerSecond: { sluice: formatInteger(race.write[0]), 'server-memory': formatInteger(race.write[1]) },
    },
    tables: [
      {
        title: 'memory: search_memory over stdio, one at a time, ms',
        notes: [
          `questions of two to four words about existing memories, in turn; ${growth.small.length} rounds of ${perRound} each`,
          'the median of the rounds’ percentiles',
        ],
        columns: ['memories', 'p50', 'p95'],
        rows: [row(String(few), growth.small), row(String(many), growth.large)],
      },
      {
        title: `memory: ${many} memories on disk, without embeddings`,
        columns: ['', 'MB'],
        rows: [
          ['text', formatNumber(sizes.textBytes / 1e6)],
          ['file', formatNumber(sizes.fileBytes / 1e6)],
        ],
      },
      {
        title: `memory: beside @modelcontextprotocol/server-memory, ${few} items, calls per second over stdio`,
        notes: [
          'one at a time; a write is answered when it is on the disk (fsync) by Sluice, when it is written by the other',
        ],
        columns: ['', 'search', 'write'],
        rows: [
          ['sluice', formatNumber(race.search[0]), formatNumber(race.write[0])],
          ['server-memory', formatNumber(race.search[1]), formatNumber(race.write[1])],
          ['', formatFactor(searchTimes), formatFactor(writeTimes)],
        ],
      },
    ],
    goals: [
      { figure: `memory: search p95 of ${many}, times that of ${few}`, atMost: 2, unit: '×', measured: growthP95 },
      { figure: 'memory: file, times the text', atMost: 3, unit: '×', measured: perText },
      { figure: 'memory: searches, times server-memory', atLeast: 10, unit: '×', measured: searchTimes },
      { figure: 'memory: writes, times server-memory', atLeast: 10, unit: '×', measured: writeTimes },
    ],
  }
}
