/** The contract of every archive, on SQLite, on a real PostgreSQL and on PGlite with vectors. */

import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Archive, Filters, NewMemory, Workspace } from '../src/archive.ts'
import { VectorLengthMismatch, WorkspaceDeleted } from '../src/archive.ts'
import { chunk } from '../src/chunk.ts'
import { wordsOf } from '../src/words.ts'
import type { ArchiveFixture } from './archives.fixture.ts'
import {
  pgliteArchiveFixture,
  postgresArchiveFixture,
  sqliteArchiveFixture,
  threadArchiveFixture,
} from './archives.fixture.ts'

const all: Filters = { tags: [] }

let time = 0
const aMemory = (text: string, more: Partial<NewMemory> = {}): NewMemory => ({
  id: randomUUID(),
  text,
  source: undefined,
  tags: [],
  metadata: '{}',
  at: ++time,
  chunks: chunk(text, { size: 20, overlap: 4 }),
  ...more,
})

describe.each([
  ['SQLite', async () => sqliteArchiveFixture()],
  ['SQLite in its thread', async () => threadArchiveFixture()],
  ['PostgreSQL', () => postgresArchiveFixture()],
  ['PGlite', pgliteArchiveFixture],
] as const)('%s', (_, prepare) => {
  let fixture: ArchiveFixture
  let archive: Archive
  beforeAll(async () => {
    fixture = await prepare()
  }, 120_000)
  afterEach(() => archive.close())
  afterAll(() => fixture.close())

  const open = async (): Promise<Workspace> => {
    archive = await fixture.open()
    return room('ann', 'default')
  }
  const room = async (tenant: string, id: string): Promise<Workspace> => {
    const workspace = await archive.workspace(tenant, id)
    if (!workspace) throw new Error(`no workspace ${id}`)
    return workspace
  }
  const found = async (workspace: Workspace, query: string, filters: Filters = all): Promise<readonly string[]> => {
    const hits = await workspace.searchText(wordsOf(query), filters, 50)
    const memories = await workspace.read(hits)
    return hits.map(({ memory }) => memories.get(memory)?.text ?? '')
  }

  test('added memories are there unchanged, also after reopening', async () => {
    const strange = "Zażółć “gęślą” \u{1F469}\u200d\u{1F4BB} \\ ' '' % _ ; -- $1 :x ?1 \r\n\t\uffff end"
    const memory = aMemory(strange, {
      source: "o'hara",
      tags: ['a,b', '{c}', '"d"', 'é', 'NULL'],
      metadata: '{"deep":{"er":[1,null]}}',
      at: -5,
    })
    const workspace = await open()
    expect(await workspace.add([memory])).toEqual([true])
    const { chunks, ...kept } = memory
    expect(await workspace.get(memory.id)).toMatchObject(kept)
    await archive.close()
    archive = await fixture.reopen()
    expect(await (await room('ann', 'default')).get(memory.id)).toMatchObject(kept)
    expect(chunks.length).toBeGreaterThan(0)
  })

  test('a taken id is skipped, and the others of its batch are added', async () => {
    const workspace = await open()
    const first = aMemory('one')
    await workspace.add([first])
    expect(await workspace.add([aMemory('two'), { ...aMemory('other'), id: first.id }, aMemory('three')])).toEqual([
      true,
      false,
      true,
    ])
    expect((await workspace.get(first.id))?.text).toBe('one')
    expect(await workspace.counts()).toMatchObject({ memories: 3, chunks: 3, textBytes: 11 })
  })

  test('words find memories: better matches first, in other forms, without accents, in Chinese', async () => {
    const workspace = await open()
    await workspace.add([
      aMemory('The cat sat on the mat.'),
      aMemory('A dog chased a cat, and the dog barked at dogs.'),
      aMemory('Deploying to Zürich'),
      aMemory('我们决定使用数据库'),
    ])
    expect((await found(workspace, 'dog barked'))[0]).toContain('A dog chased')
    expect(await found(workspace, 'cats')).toHaveLength(2)
    expect(await found(workspace, 'deployment zurich')).toEqual(['Deploying to Zürich'])
    expect(await found(workspace, '数据库')).toEqual(['我们决定使用数据库'])
    expect(await found(workspace, '库据')).toEqual([])
    expect(await found(workspace, 'elephant')).toEqual([])
    expect(await found(workspace, '')).toEqual([])
  })

  test('a word is found in an address, a path, a version, a number and a date', async () => {
    const workspace = await open()
    const texts = {
      'Write to anna@example.com': ['anna', 'example', 'anna@example.com'],
      'See https://docs.example.org/path/page.html': ['docs', 'page', 'docs.example.org'],
      'The change is in src/main.rs': ['main', 'rs', 'src/main.rs'],
      'Runs on Node.js v1.2.3': ['Node', 'Node.js', 'v1.2.3'],
      'Met on 2026-11-16, paid 3.14, got -5': ['11', '16', '2026-11-16', '3.14', '14', '5'],
      'user.name=Σίσυφος': ['user', 'name', 'ΣΊΣΥΦΟΣ'],
      'The Who did not play': ['the who', 'not'],
    }
    await workspace.add(Object.keys(texts).map((text) => aMemory(text)))
    for (const [text, queries] of Object.entries(texts))
      for (const query of queries) expect((await found(workspace, query))[0], query).toBe(text)
  })

  test('characters of a query language have no special meaning', async () => {
    const workspace = await open()
    await workspace.add([aMemory('plain words')])
    for (const query of [
      '"',
      "'",
      '*',
      'a AND',
      'OR OR',
      'NOT',
      'col:x',
      '(',
      '&|!<->:*',
      'plain\\',
      'NEAR(a b)',
      '-x',
      '^y',
    ])
      expect(await found(workspace, query)).toEqual(query.startsWith('plain') ? ['plain words'] : [])
  })

  test('a chunk is found by its own words, with its range in the text', async () => {
    const workspace = await open()
    const text = `${'filler word here. '.repeat(30)}the needle 👩‍👩‍👧 lies here. ${'more filler follows. '.repeat(30)}`
    await workspace.add([aMemory(text)])
    const [hit] = await workspace.searchText(['needle'], all, 1)
    expect(text.slice(hit?.start, hit?.end)).toContain('needle 👩‍👩‍👧')
  })

  test('filters apply before ranking, so that a passing memory is found among many better matches', async () => {
    const workspace = await open()
    await workspace.add(
      Array.from({ length: 300 }, () => aMemory('apple apple apple', { tags: ['many'], source: 'a' })),
    )
    await workspace.add([aMemory('one apple among other fruit', { tags: ['rare', 'x'], source: 'b', at: 1_000_000 })])
    const only = ['one apple among other fruit']
    expect(await found(workspace, 'apple', { tags: ['rare', 'none'] })).toEqual(only)
    expect(await found(workspace, 'apple', { tags: [], source: 'b' })).toEqual(only)
    expect(await found(workspace, 'apple', { tags: [], from: 1_000_000, to: 1_000_000 })).toEqual(only)
    expect(await found(workspace, 'apple', { tags: ['rare'], source: 'a' })).toEqual([])
    expect(await found(workspace, 'apple', { tags: ["x' OR '1'='1"] })).toEqual([])
  })

  test('a word in nearly every memory is still found, newest first', async () => {
    const workspace = await open()
    const many = Array.from({ length: 1200 }, (_, n) => aMemory(`note ${n} about common things`))
    await workspace.add(many)
    await workspace.add([aMemory('the zebra note')])
    expect(await found(workspace, 'common')).toHaveLength(50)
    expect((await found(workspace, 'common zebra note'))[0]).toBe('the zebra note')
    expect(await found(workspace, 'common unicorn')).toHaveLength(50)
    expect((await found(workspace, 'common 7')).slice(0, 1)).toEqual(['note 7 about common things'])
  })

  test('lists are newest first, in pages that neither repeat nor skip, also for equal times', async () => {
    const workspace = await open()
    await workspace.add([1, 2, 3, 4, 5].map((n) => aMemory(`m${n}`, { at: n < 3 ? 7 : n * 10 })))
    const texts: string[] = []
    let after: { at: number; key: number } | undefined
    for (;;) {
      const page = await workspace.list({ filters: all, limit: 2, after })
      texts.push(...page.map(({ text }) => text))
      after = page.at(-1)
      if (page.length < 2) break
    }
    expect(texts).toEqual(['m5', 'm4', 'm3', 'm2', 'm1'])
    expect(await workspace.list({ filters: { tags: [], from: 40 }, limit: 9 })).toHaveLength(2)
    const [, second, third] = await workspace.walk(0, 3, 1000)
    expect(third?.text).toBe('m3')
    expect((await workspace.walk(second?.key ?? 0, 9, 1000)).map(({ text }) => text)).toEqual(['m3', 'm4', 'm5'])
  })

  test('deleting removes the memory, its words and its share of the counts', async () => {
    const workspace = await open()
    const [deleted, kept] = [aMemory('secret word '.repeat(30)), aMemory('kept word')]
    await workspace.add([deleted, kept])
    expect(await workspace.delete(deleted.id)).toBe(true)
    expect(await workspace.delete(deleted.id)).toBe(false)
    expect(await found(workspace, 'secret')).toEqual([])
    expect(await found(workspace, 'word')).toEqual(['kept word'])
    expect(await workspace.counts()).toMatchObject({ memories: 1, chunks: 1, textBytes: 9 })
  })

  test('clearing leaves the workspace empty and usable', async () => {
    const workspace = await open()
    await workspace.add([aMemory('one two'), aMemory('two three')])
    await workspace.relate({ from: { name: 'A' }, type: 'knows', to: { name: 'B' }, confidence: 1 })
    await workspace.clear()
    expect(await workspace.counts()).toMatchObject({ memories: 0, chunks: 0, textBytes: 0, oldest: undefined })
    expect(await workspace.graphCounts()).toEqual({ entities: 0, relations: 0, types: {} })
    expect(await found(workspace, 'two')).toEqual([])
    await workspace.add([aMemory('two again')])
    expect(await found(workspace, 'two')).toEqual(['two again'])
  })

  test('a graph is added as a whole and counts what is new; entities without relations can be deleted', async () => {
    const workspace = await open()
    const [anna, siemens, porto] = [{ name: 'Anna', type: 'person' }, { name: 'Siemens' }, { name: 'Porto' }]
    const relation = { from: anna, type: 'works_at', to: siemens, confidence: 0.9 }
    const graph = { entities: [porto, siemens, anna], relations: [relation] }
    expect(await workspace.addGraph(graph)).toEqual({ entities: 3, relations: 1 })
    expect(await workspace.addGraph(graph)).toEqual({ entities: 0, relations: 0 })
    expect(await workspace.entity('anna')).toMatchObject({ type: 'person' })
    const other = await room('ben', 'default')
    await other.addGraph({ entities: [porto], relations: [] })
    expect([await workspace.deleteUnrelated(true), (await workspace.graphCounts()).entities]).toEqual([1, 3])
    expect(await workspace.deleteUnrelated(false)).toBe(1)
    expect(await workspace.graphCounts()).toMatchObject({ entities: 2, relations: 1 })
    expect((await other.graphCounts()).entities).toBe(1)
  })

  test('each tenant sees its own workspaces only, and a workspace its own contents only', async () => {
    const workspace1 = await open()
    const made = { id: 'work', name: 'Work', description: 'd', createdAt: 5 }
    expect(await archive.createWorkspace('ann', made)).toBe(true)
    expect(await archive.createWorkspace('ann', made)).toBe(false)
    expect(await archive.createWorkspace('bob', made)).toBe(true)
    const [hers, his] = [await room('ann', 'work'), await room('bob', 'work')]
    const memory = aMemory('the same word', { tags: ['t'] })
    await hers.add([memory])
    for (const other of [workspace1, his, await room('bob', 'default')]) {
      expect(await other.get(memory.id)).toBeUndefined()
      expect(await other.delete(memory.id)).toBe(false)
      expect(await found(other, 'word')).toEqual([])
      expect(await found(other, 'word', { tags: ['t'] })).toEqual([])
      expect(await other.list({ filters: all, limit: 9 })).toEqual([])
      const [hit] = await hers.searchText(['word'], all, 1)
      expect(await other.read([hit ?? { memory: 0, start: 0, end: 0 }])).toEqual(new Map())
      await other.clear()
    }
    expect(await his.add([memory])).toEqual([true])
    expect(await archive.listWorkspaces('ann')).toMatchObject([{ id: 'default' }, { ...made, memories: 1 }])
    expect(await archive.workspace('carl', 'work')).toBeUndefined()
    expect(await archive.deleteWorkspace('carl', 'work')).toBe(false)
    expect(await archive.deleteWorkspace('ann', 'work')).toBe(true)
    expect(await archive.workspace('ann', 'work')).toBeUndefined()
    expect(await found(his, 'word')).toEqual(['the same word'])
  })

  test('a deleted workspace accepts nothing more, and a new one of the same name is empty', async () => {
    await open()
    const made = { id: 'w', name: 'w', description: '', createdAt: 5 }
    await archive.createWorkspace('ann', made)
    const old = await room('ann', 'w')
    await old.add([aMemory('old word')])
    await archive.deleteWorkspace('ann', 'w')
    await expect(old.add([aMemory('late')])).rejects.toThrow(WorkspaceDeleted)
    await expect(old.relate({ from: { name: 'A' }, type: 'r', to: { name: 'B' }, confidence: 1 })).rejects.toThrow(
      WorkspaceDeleted,
    )
    await archive.createWorkspace('ann', made)
    expect(await found(await room('ann', 'w'), 'word late')).toEqual([])
  })

  test('entities are compared without case; a repeated relation updates its confidence', async () => {
    const workspace = await open()
    const relate = (from: string, to: string, confidence: number, type?: string): Promise<boolean> =>
      workspace.relate({ from: { name: from, type }, type: 'knows', to: { name: to }, confidence })
    expect(await relate('Anna', 'Ben', 0.5, 'person')).toBe(true)
    expect(await relate(' ANNA ', 'ben', 0.9)).toBe(false)
    expect(await relate('Ben', 'Anna', 1)).toBe(true)
    expect(await relate('Ben', 'Ben', 1)).toBe(true)
    const anna = await workspace.entity('anna')
    expect(anna).toMatchObject({ name: 'Anna', type: 'person' })
    expect(await workspace.entity(anna?.id ?? '')).toEqual(anna)
    expect(await workspace.entity('nobody')).toBeUndefined()
    expect(await workspace.graphCounts()).toEqual({ entities: 2, relations: 3, types: { person: 1, thing: 1 } })
    const at = await workspace.relationsOf([anna?.key ?? 0], [])
    expect(at.map(({ confidence }) => confidence).sort()).toEqual([0.9, 1])
    expect(await workspace.relationsOf([anna?.key ?? 0], ['hates'])).toEqual([])
    expect(await workspace.relations(0, 2)).toHaveLength(2)
    expect(await workspace.entities(0, 9)).toHaveLength(2)
  })

  test('concurrent writers each get what they asked for', async () => {
    const workspace = await open()
    const texts = Array.from({ length: 60 }, (_, n) => `parallel fact ${n}`)
    await Promise.all([
      ...texts.map((text) => workspace.add([aMemory(text)])),
      ...texts.map((_, n) =>
        workspace.relate({ from: { name: `e${n % 5}` }, type: 'r', to: { name: `e${(n * 7) % 5}` }, confidence: 1 }),
      ),
    ])
    expect(await workspace.counts()).toMatchObject({ memories: 60, chunks: 60 })
    expect((await workspace.graphCounts()).entities).toBe(5)
  })

  test('batches with the same memories in any order are all stored, once', async () => {
    const workspace = await open()
    const memories = Array.from({ length: 200 }, (_, n) => aMemory(`shared ${n}`))
    const batches = [memories, memories.toReversed(), memories, memories.toReversed()]
    const added = await Promise.all(batches.map((batch) => workspace.add(batch)))
    expect(added.flat().filter(Boolean)).toHaveLength(200)
    expect(await workspace.counts()).toMatchObject({ memories: 200 })
  })

  test('vectors: near ones are found, filtered before ranking, and deleted with their memory or their model', async () => {
    const workspace = await open()
    expect(await archive.useVectors('a model')).toBe(fixture.vectors)
    if (!fixture.vectors) return
    const texts = ['north', 'east', 'north-east', 'refused']
    await workspace.add(texts.map((text) => aMemory(text, { tags: [text] })))
    const pieces = await workspace.unembedded(10)
    expect(pieces.map(({ text }) => text)).toEqual(texts)
    const vectors = [
      [0, 1],
      [1, 0],
      [1, 1],
    ].map((numbers) => Float32Array.from(numbers))
    await workspace.embed(pieces.map(({ piece }, at) => ({ piece, vector: vectors[at] })))
    expect(await workspace.unembedded(10)).toEqual([])
    expect(await archive.unembedded()).toEqual([])
    expect(await workspace.counts()).toMatchObject({ embedded: 3 })
    const near = async (numbers: number[], filters: Filters = all): Promise<readonly string[]> => {
      const hits = await workspace.searchVectors(Float32Array.from(numbers), filters, 10)
      const memories = await workspace.read(hits)
      return hits.map(({ memory }) => memories.get(memory)?.text ?? '')
    }
    expect(await near([0.1, 3])).toEqual(['north', 'north-east', 'east'])
    expect(await near([0, 1], { tags: ['east', 'refused'] })).toEqual(['east'])
    await expect(near([1, 2, 3])).rejects.toThrow(VectorLengthMismatch)
    await workspace.add([aMemory('more')])
    const [more] = await workspace.unembedded(1)
    await expect(workspace.embed([{ piece: more?.piece ?? 0, vector: Float32Array.from([1, 2, 3]) }])).rejects.toThrow(
      VectorLengthMismatch,
    )
    expect(await archive.unembedded()).toHaveLength(1)
    const [north] = await workspace.list({ filters: { tags: ['north'] }, limit: 1 })
    await workspace.delete(north?.id ?? '')
    expect(await near([0, 1])).toEqual(['north-east', 'east'])
    expect(await archive.useVectors('a model')).toBe(true)
    expect(await near([0, 1])).toHaveLength(2)
    expect(await archive.useVectors('another model')).toBe(true)
    expect(await near([0, 1])).toEqual([])
    expect(await workspace.unembedded(10)).toHaveLength(4)
  })
})
