/**
 * The knowledge server with 10,000 articles: the time to the first answer from files and from an index, a search
 * compared with reading everything, and whether questions find the right page of Sluice's own documents.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { fromIndex } from '@sluice/knowledge'
import { scoreRetrieval } from '../../../test/knowledge/questions.ts'
import { type MadeArticle, makeLibrary, toMarkdown } from '../../lib/articles.ts'
import { formatNumber, interleave, median, progress, ratio, type Section } from '../../lib/figures.ts'

const count = 10_000
const searches = 400
const starts = 3
const dist = dirname(fileURLToPath(import.meta.resolve('@sluice/knowledge')))
const program = join(dist, 'main.js')

async function run(...args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [program, ...args], { stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`sluice-knowledge ${args[0]} ended with ${code}`)
}

/**
 * Measures from the start of the process to the answer of a first search, so that an index that is read lazily counts
 * too.
 */
async function startMs(source: string, query: string): Promise<number> {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [program, source], { stdio: ['pipe', 'pipe', 'ignore'] })
  const params = { name: 'search_articles', arguments: { query } }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize' })}\n`)
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params })}\n`)
  let output = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    output += text
    if (output.includes('"id":2')) break
  }
  const took = performance.now() - startedAt
  child.stdin.end()
  child.kill()
  if (!output.includes('"isError":false')) throw new Error(`The first search failed: ${output.slice(0, 500)}`)
  return took
}

const weights = [
  ['title', 6],
  ['tags', 4],
  ['description', 3],
  ['body', 1],
] as const

/** The naive implementation: looks up every word in every article, and finds no misspellings. */
function scan(articles: readonly Record<(typeof weights)[number][0], string>[], query: string): readonly number[] {
  const words = query.toLowerCase().split(' ')
  const scored: [score: number, index: number][] = []
  articles.forEach((article, index) => {
    let score = 0
    for (const [field, weight] of weights) {
      const text = article[field].toLowerCase()
      for (const word of words) if (text.includes(word)) score += weight
    }
    if (score > 0) scored.push([score, index])
  })
  return scored
    .sort(([a], [b]) => b - a)
    .slice(0, 20)
    .map(([, index]) => index)
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? Number.NaN

async function write(folder: string, articles: readonly MadeArticle[]): Promise<void> {
  for (const collection of new Set(articles.map((article) => article.collection)))
    await mkdir(join(folder, collection), { recursive: true })
  for (const [index, article] of articles.entries())
    await writeFile(join(folder, article.collection, `${article.slug}.md`), toMarkdown(article, index))
}

export async function knowledge(): Promise<Section> {
  const root = await mkdtemp(join(tmpdir(), 'sluice-bench-knowledge-'))
  try {
    progress(`knowledge: writing ${count} articles`)
    const { articles, queries } = makeLibrary(count, searches)
    const folder = join(root, 'articles')
    const index = join(root, 'knowledge.json')
    await write(folder, articles)
    await run('build', folder, '--out', index)

    const sources = { files: folder, index }
    const started = await interleave(['files', 'index'] as const, starts, (name, round) => {
      progress(`knowledge: start from ${name}, ${round + 1} of ${starts}`)
      return startMs(sources[name], queries[round] ?? '')
    })
    const start = (name: 'files' | 'index'): number | undefined => {
      const taken = started.get(name)
      return taken && median(taken)
    }

    progress(`knowledge: ${searches} searches`)
    const text = await readFile(index, 'utf8')
    const base = fromIndex(JSON.parse(text))
    const plain = articles.map(({ tags, ...article }) => ({ ...article, tags: tags.join(' ') }))
    const taken: { readonly search: number[]; readonly scan: number[] } = { search: [], scan: [] }
    let found = 0
    for (const query of queries) {
      const before = performance.now()
      found += base.search(query).length > 0 ? 1 : 0
      const between = performance.now()
      scan(plain, query)
      taken.search.push(between - before)
      taken.scan.push(performance.now() - between)
    }
    const p99 = { search: quantile(taken.search, 0.99), scan: quantile(taken.scan, 0.99) }
    const { asked, right, first } = scoreRetrieval(
      fromIndex(JSON.parse(await readFile(join(dist, 'sluice.json'), 'utf8'))),
    )
    return {
      figures: {
        startMs: { files: start('files'), index: start('index') },
        searchMs: { p50: median(taken.search), p99: p99.search, found },
        scanMs: { p50: median(taken.scan), p99: p99.scan },
        indexMegabytes: text.length / 1e6,
        retrieval: { asked, right, first },
      },
      tables: [
        {
          title: `knowledge: ${formatNumber(count)} articles, ms`,
          notes: [
            `start: a process until it has answered a search, median of ${starts}`,
            `search: ${searches} queries of two to four words, one word in five misspelt, ${found} of them found something`,
          ],
          columns: ['', 'median', 'p99'],
          rows: [
            ['start from the files', formatNumber(start('files')), ''],
            ['start from the index', formatNumber(start('index')), ''],
            ['search', formatNumber(median(taken.search)), formatNumber(p99.search)],
            ['reading everything', formatNumber(median(taken.scan)), formatNumber(p99.scan)],
          ],
        },
      ],
      goals: [
        {
          figure: 'knowledge: start from the files / from the index',
          atLeast: 10,
          unit: '×',
          measured: ratio(start('files'), start('index')),
        },
        {
          figure: 'knowledge: search p99 / reading everything',
          atMost: 0.333,
          unit: '×',
          measured: ratio(p99.search, p99.scan),
        },
        {
          figure: 'knowledge: questions answered in the first three',
          atLeast: 95,
          unit: ' %',
          measured: (right / asked) * 100,
        },
      ],
    }
  } finally {
    await rm(root, { recursive: true })
  }
}
