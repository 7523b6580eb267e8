/**
 * Stores the functions and classes of a folder as memories, so that a search finds code. Indexing again stores only
 * what changed: the ID of a memory is made from its contents.
 */

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Memory, NewMemory, Workspace } from '../archive.ts'
import { toNewMemory } from '../memory.ts'
import type { SourceFile } from './files.ts'
import { type CodeSymbol, symbolsOf } from './symbols.ts'

export interface IndexedCode {
  readonly files: number
  readonly functions: number
  readonly classes: number
  /** Calls whose target is a function or class of this folder. */
  readonly calls: number
  readonly lines: number
  readonly languages: Readonly<Record<string, number>>
  readonly added: number
  readonly unchanged: number
  readonly removed: number
  /** Memories of files that no longer exist in the folder. */
  readonly stale: number
}

/** The tag of every memory of code. */
const codeTag = 'code'
const writer = 'index_codebase'
const batchSize = 50
const pageSize = 500

export interface CodeMemory {
  readonly memory: Memory
  /** The real path of the indexed folder. */
  readonly repository: string
  readonly file: string
}

/** Yields the memories that indexing stored. A memory that an agent wrote itself has no such metadata. */
export async function* codeMemories(workspace: Workspace): AsyncGenerator<CodeMemory> {
  let after: { readonly at: number; readonly key: number } | undefined
  do {
    const page = await workspace.list({ filters: { tags: [codeTag] }, limit: pageSize, after })
    for (const memory of page) {
      const { indexed_by, repository, file } = JSON.parse(memory.metadata) as Record<string, unknown>
      if (indexed_by === writer && typeof repository === 'string' && typeof file === 'string')
        yield { memory, repository, file }
    }
    const last = page.length === pageSize ? page.at(-1) : undefined
    after = last && { at: last.at, key: last.key }
  } while (after)
}

export interface IndexOptions {
  readonly now: number
  readonly signal: AbortSignal
  progress(done: number, total: number): void
}

export async function indexCode(
  workspace: Workspace,
  repository: string,
  files: readonly SourceFile[],
  { now, signal, progress }: IndexOptions,
): Promise<IndexedCode> {
  const known = await knownIds(workspace, repository)
  const counts = { functions: 0, classes: 0, calls: 0, lines: 0, added: 0, unchanged: 0, removed: 0 }
  const languages: Record<string, number> = {}
  const found: { readonly file: SourceFile; readonly symbols: readonly CodeSymbol[] }[] = []
  for (const file of files) {
    signal.throwIfAborted()
    const text = await readFile(join(repository, file.path), 'utf8').catch(() => '')
    const { symbols, lines } = await symbolsOf(text, file.language)
    found.push({ file, symbols })
    counts.lines += lines
    languages[file.language.name] = (languages[file.language.name] ?? 0) + 1
  }
  const names = new Set(found.flatMap(({ symbols }) => symbols.map(({ name }) => name)))
  for (const [at, { file, symbols }] of found.entries()) {
    signal.throwIfAborted()
    const memories: NewMemory[] = []
    for (const symbol of symbols) {
      const calls = symbol.calls.filter((name) => names.has(name))
      counts.calls += calls.length
      counts[symbol.kind === 'class' ? 'classes' : 'functions']++
      memories.push(await toMemory(repository, file, { ...symbol, calls }, now))
    }
    const before = known.get(file.path) ?? new Set()
    known.delete(file.path)
    const fresh = memories.filter(({ id }) => !before.delete(id))
    // New ones first: a search between the two steps finds the code twice, which is better than not at all.
    for (let from = 0; from < fresh.length; from += batchSize) await workspace.add(fresh.slice(from, from + batchSize))
    for (const id of before) await workspace.delete(id)
    counts.added += fresh.length
    counts.unchanged += memories.length - fresh.length
    counts.removed += before.size
    progress(at + 1, found.length)
  }
  const stale = [...known.values()].reduce((sum, ids) => sum + ids.size, 0)
  return { files: files.length, ...counts, languages, stale }
}

async function knownIds(workspace: Workspace, repository: string): Promise<Map<string, Set<string>>> {
  const known = new Map<string, Set<string>>()
  for await (const { memory, file, ...code } of codeMemories(workspace)) {
    if (code.repository !== repository) continue
    const ids = known.get(file) ?? new Set()
    known.set(file, ids.add(memory.id))
  }
  return known
}

function toMemory(repository: string, file: SourceFile, symbol: CodeSymbol, now: number): Promise<NewMemory> {
  const { kind, name, line, text, calls } = symbol
  const { path, language } = file
  const id = toUuid([repository, path, kind, name, String(line), text, calls.join(' ')])
  const head = `${name}: ${kind} in ${path}, line ${line} (${language.name})`
  return toNewMemory(
    `${head}\n\n${text}`.replaceAll('\0', '\uFFFD'),
    {
      ...{ source: `${basename(repository)}/${path}`.slice(0, 1000), tags: [codeTag, language.name] },
      ...{ indexed_by: writer, repository, file: path, line, kind, name, calls },
    },
    now,
    id,
  )
}

/** Makes a UUID of version 8, whose meaning is the program's. */
function toUuid(parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
