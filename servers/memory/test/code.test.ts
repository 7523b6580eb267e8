/** `index_codebase` on the sources of this package, and `prune_memory`. */

import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { languages } from '../src/code/languages.ts'
import { symbolsOf } from '../src/code/symbols.ts'
import { aFolder, type OpenedMemory, openMemory, textOf } from './server.fixture.ts'

const ownSources = join(import.meta.dirname, '../src')

async function openWithCode(files: Readonly<Record<string, string>> = {}): Promise<OpenedMemory & { code: string }> {
  const code = aFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(code, path, '..'), { recursive: true })
    writeFileSync(join(code, path), text)
  }
  return { ...(await openMemory({ env: { SLUICE_MEMORY_CODE: [code, '/nowhere'].join(delimiter) } })), code }
}

const samples: Readonly<Record<string, readonly [text: string, symbols: string]>> = {
  typescript: [
    'export async function load(a: string) {\n  return parse(a)\n}\nexport const parse = (a: string): number => 1\nexport class Box<T> {\n  get(): T {\n    if (x) {\n    }\n  }\n}\nexport interface Shape {}\ntype Id = string\nconst plain = 3\n',
    'function load, function parse, class Box, function get, class Shape, class Id',
  ],
  python: [
    'class Dog(Animal):\n    async def bark(self):\n        pass\ndef run():\n    bark()\n',
    'class Dog, function bark, function run',
  ],
  go: [
    'type Store struct {\n}\nfunc (s *Store) Get(key string) string {\n}\nfunc main() {\n}\n',
    'class Store, function Get, function main',
  ],
  rust: ['pub struct Call;\nimpl Call {\n    pub async fn run(&self) {}\n}\n', 'class Call, function run'],
  java: [
    'public final class A {\n  public List<String> names(int a) {\n    return find(a);\n  }\n}\n',
    'class A, function names',
  ],
  ruby: ['module M\n  class A\n    def self.ok?(x)\n', 'class M, class A, function ok?'],
  php: ['abstract class A {\n  public static function b($x) {\n', 'class A, function b'],
  c: [
    'struct point {\nint x;\n};\nstatic int add(int a, int b)\n{\n  return sum(a);\n}\n',
    'class point, function add',
  ],
  kotlin: ['data class A(val x: Int)\nfun <T> b(x: T) {\n', 'class A, function b'],
  csharp: ['public record A {\n    public async Task<int> Run(int x) {\n', 'class A, function Run'],
  lisp: ['(defclass point ()\n  (x))\n(defun add (a b)\n  (sum a b))\n', 'class point, function add'],
}

test.each(Object.entries(samples))('functions and classes of %s are found', async (name, [text, expected]) => {
  const language = languages.find((each) => each.name === name)
  if (!language) throw new Error(`no language ${name}`)
  const { symbols } = await symbolsOf(text, language)
  expect(symbols.map(({ kind, name }) => `${kind} ${name}`).join(', ')).toBe(expected)
})

test.each([
  ['', 0],
  ['one', 1],
  ['one\n', 1],
  ['one\r\ntwo', 2],
  ['one\n\n', 2],
])('the lines of %j are counted as an editor does', async (text, expected) => {
  const { call, code } = await openWithCode({ 'a.ts': text })
  expect(await call('index_codebase', { repo_path: code })).toMatchObject({
    structuredContent: { total_lines: expected },
  })
})

test('the sources of this package are indexed and found, and indexing again changes nothing', async () => {
  const memory = await openWithCode()
  cpSync(ownSources, join(memory.code, 'memory'), { recursive: true })
  const first = await memory.call('index_codebase', { repo_path: memory.code })
  expect(textOf(first)).toMatch(/^Code indexed successfully\.\n/)
  const { files_indexed, functions, classes, calls, memories_added } = first.structuredContent
  expect([files_indexed > 40, functions > 150, classes > 40, calls > 200]).toEqual([true, true, true, true])
  expect(memories_added).toBe(functions + classes)
  const found = await memory.call('search_memory', { query: 'fuse rankings', filters: { tags: ['typescript'] } })
  expect(found.structuredContent.results[0]).toMatchObject({
    metadata: { file: 'memory/fuse.ts', kind: 'function', name: 'fuse', line: expect.any(Number) },
  })
  const second = await memory.call('index_codebase', { repo_path: memory.code })
  expect(second.structuredContent).toMatchObject({
    ...{ memories_added: 0, memories_unchanged: memories_added, memories_removed: 0, stale_memories: 0 },
  })
})

test('a changed function replaces the old one; code of a deleted file is stale until it is pruned', async () => {
  const memory = await openWithCode({
    ...{ 'a.py': 'def greet():\n    return "hello"\n', 'b.py': 'def part():\n    return greet()\n' },
    ...{ 'test_a.py': 'def test_greet():\n    pass\n', 'node_modules/x.js': 'function foreign() {}\n' },
  })
  await memory.call('index_codebase', { repo_path: memory.code })
  await memory.add('def mine(): a note of a person', { tags: ['code'] })
  writeFileSync(join(memory.code, 'a.py'), 'def greet():\n    return "goodbye"\n')
  rmSync(join(memory.code, 'b.py'))
  const again = await memory.call('index_codebase', { repo_path: memory.code })
  expect(again.structuredContent).toMatchObject({ memories_added: 1, memories_removed: 1, stale_memories: 1 })
  expect(await memory.search('hello')).toEqual([])
  expect(await memory.search('foreign')).toEqual([])

  const preview = await memory.call('prune_memory', { strategy: 'stale_code' })
  expect(preview.structuredContent).toMatchObject({ stale_code: 1, files: [join(memory.code, 'b.py')], dry_run: true })
  expect(await memory.search('part')).toHaveLength(1)
  expect(await memory.call('prune_memory', { dry_run: false })).toMatchObject({ isError: true })
  expect(await memory.text('prune_memory', { dry_run: false, confirm: true })).toMatch(
    /^Removed:\nCode of files that no longer exist: 1\n/,
  )
  expect(await memory.search('part')).toEqual([])
  expect(await memory.search('note of a person')).toHaveLength(1)
})

test('entities without relations are pruned, and the others stay', async () => {
  const { call } = await openMemory()
  await call('build_graph', { text: 'Anna Schmidt works at Siemens. They all like Porto.' })
  expect((await call('prune_memory', { strategy: 'orphaned_entities' })).structuredContent).toEqual({
    ...{ workspace_id: 'default', strategy: 'orphaned_entities', dry_run: true, orphaned_entities: 1 },
  })
  await call('prune_memory', { strategy: 'orphaned_entities', dry_run: false, confirm: true })
  expect((await call('graph_status')).structuredContent).toMatchObject({ nodes: 2, relationships: 1 })
})

test('only folders that the operator allows are read, also through links; without one the tool is not there', async () => {
  const outside = aFolder()
  writeFileSync(join(outside, 'secret.py'), 'def secret():\n    pass\n')
  const memory = await openWithCode({ 'a.py': 'def a():\n    pass\n' })
  symlinkSync(outside, join(memory.code, 'linked'))
  for (const repo_path of [
    outside,
    join(memory.code, '..'),
    join(memory.code, 'linked'),
    '/',
    join(memory.code, 'none'),
  ])
    expect([repo_path, await memory.call('index_codebase', { repo_path })]).toEqual([
      repo_path,
      expect.objectContaining({
        isError: true,
        content: [{ type: 'text', text: expect.stringContaining('may be indexed') }],
      }),
    ])
  await memory.call('index_codebase', { repo_path: memory.code })
  expect(await memory.search('secret')).toEqual([])
  const { client } = await openMemory()
  const { tools } = await client.request('tools/list')
  expect((tools as { name: string }[]).map(({ name }) => name)).not.toContain('index_codebase')
})
