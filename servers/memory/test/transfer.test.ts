/** Moving memories: through the protocol in pages, and through the command as files. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { programOf } from '../../../test/kit/clients/binary.client.ts'
import type { OpenedMemory } from './server.fixture.ts'
import { aFolder, openMemory } from './server.fixture.ts'

async function exported({ call }: OpenedMemory, more: object = {}): Promise<string> {
  let lines = ''
  let cursor: string | undefined
  do {
    const page = await call('export_memories', { ...more, ...(cursor && { cursor }) })
    lines += page.content[1]?.resource?.text ?? ''
    cursor = page.structuredContent.next_cursor
  } while (cursor)
  return lines
}

test('an export imported into another memory gives the same contents', async () => {
  const from = await openMemory()
  for (let n = 0; n < 450; n++)
    await from.add(`fact ${n} “quoted”\nsecond line`, {
      tags: [`t${n % 3}`],
      source: 's',
      note: { n },
      timestamp: `2026-01-${10 + (n % 9)}`,
    })
  for (let n = 0; n < 250; n++)
    await from.call('add_relation', { from: `a${n}`, relation: 'r', to: 'b', to_type: 'hub', confidence: 0.5 })
  const lines = await exported(from)
  expect(lines.trimEnd().split('\n')).toHaveLength(700)
  const to = await openMemory()
  expect(await to.text('import_memories', { jsonl: lines })).toBe(
    'Imported 450 memories and 250 relations into workspace default.',
  )
  expect(await exported(to)).toBe(lines)
  expect(await to.text('import_memories', { jsonl: lines })).toBe(
    'Imported 0 memories and 0 relations into workspace default.\n700 already existed.',
  )
  expect(await to.text('graph_status')).toContain('  hub: 1')
})

test('a page stays within its size, and a larger memory is a page by itself', async () => {
  const memory = await openMemory()
  for (let n = 0; n < 5; n++) await memory.add(`${n} ${'x'.repeat(300_000)}`)
  await memory.add('y'.repeat(2_000_000))
  await memory.add('small')
  const first = await memory.call('export_memories')
  expect(first.structuredContent.records).toBe(1)
  expect((await exported(memory)).trimEnd().split('\n')).toHaveLength(7)
})

test('invalid lines are left out and reported; the others are imported', async () => {
  const { text, search } = await openMemory()
  const jsonl = [
    '{"type":"memory","text":"good one"}',
    'no json',
    '{"type":"memory","text":""}',
    '',
    '{"type":"song"}',
    '{"type":"memory","text":"good two","id":"7"}',
    '{"type":"relation","from":{"name":"A"},"relation":"r","to":{}}',
    '{"type":"memory","text":"good three","metadata":{"timestamp":"never"}}',
    '\ufeff{"type":"memory","text":"good four"}',
  ].join('\r\n')
  expect((await text('import_memories', { jsonl })).split('\n')).toEqual([
    'Imported 2 memories and 0 relations into workspace default.',
    '6 lines were left out:',
    'line 2: is not JSON',
    'line 3: text cannot be empty',
    expect.stringMatching(/^line 5: type /),
    'line 6: id is not a UUID',
    expect.stringMatching(/^line 7: to\.name /),
    expect.stringMatching(/^line 8: metadata\.timestamp is not an ISO 8601 date/),
  ])
  expect([...(await search('good'))].sort()).toEqual(['good four', 'good one'])
})

async function command(
  args: readonly string[],
  input = '',
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [programOf('memory'), ...args])
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const [code] = await once(child, 'close')
  return { code: Number(code), out, err }
}

test('the command moves a workspace through a pipe, and writes its graph', async () => {
  const [first, second] = [aFolder(), aFolder()]
  const lines = [
    ...Array.from({ length: 300 }, (_, n) => JSON.stringify({ type: 'memory', text: `fact ${n}` })),
    JSON.stringify({ type: 'relation', from: { name: 'A' }, relation: 'r', to: { name: 'B' } }),
  ].join('\n')
  expect(await command(['import', '--workspace', 'old', '--data', first], lines)).toMatchObject({
    code: 0,
    err: '300 memories and 1 relation imported, 0 already existed\n',
  })
  const { out } = await command(['export', '--workspace', 'old', '--data', first])
  expect(out.trimEnd().split('\n')).toHaveLength(301)
  expect(await command(['import', '--data', second], out)).toMatchObject({ code: 0 })
  expect((await command(['export', '--data', second])).out).toBe(out)
  expect((await command(['graph', '--data', second, '--format', 'graphml'])).out).toContain('<data key="name">A</data>')
  expect(JSON.parse((await command(['graph', '--data', second])).out).edges).toHaveLength(1)
}, 120_000)

test('a memory with U+2028 and U+2029 survives an export and an import through pipes', async () => {
  const [first, second] = [aFolder(), aFolder()]
  const line = JSON.stringify({ type: 'memory', text: 'one\u2028two\u2029three' })
  expect(await command(['import', '--data', first], line)).toMatchObject({ code: 0 })
  const { out } = await command(['export', '--data', first], '')
  expect(await command(['import', '--data', second], out)).toMatchObject({
    code: 0,
    err: '1 memory and 0 relations imported, 0 already existed\n',
  })
  expect((await command(['export', '--data', second], '')).out).toBe(out)
})

test('the command clears a workspace after the phrase was typed', async () => {
  const data = aFolder()
  await command(['import', '--data', data], '{"type":"memory","text":"a"}')
  expect(await command(['clear', '--data', data], 'yes\n')).toMatchObject({
    code: 1,
    err: expect.stringContaining(
      'holds 1 memory. To delete everything in it, type DELETE ALL MEMORIES: sluice-memory: The phrase does not match',
    ),
  })
  expect((await command(['export', '--data', data])).out).toContain('"text":"a"')
  expect(await command(['clear', '--data', data], 'DELETE ALL MEMORIES\n')).toMatchObject({ code: 0 })
  expect((await command(['export', '--data', data])).out).toBe('')
}, 120_000)

test('the command says what is wrong and exits with 1', async () => {
  const data = aFolder()
  expect(await command(['export', '--workspace', 'none', '--data', data])).toMatchObject({
    code: 1,
    err: 'sluice-memory: Workspace none does not exist. Existing workspaces: default\n',
  })
  expect(await command(['import', '--data', data], 'x')).toMatchObject({
    code: 1,
    err: expect.stringContaining('left out, line 1: is not JSON'),
  })
  expect(await command(['graph', '--format', 'png', '--data', data])).toMatchObject({
    code: 1,
    err: expect.stringContaining('json or graphml'),
  })
  expect((await command(['export', '--colour'])).code).toBe(1)
  expect((await command(['--help'])).out).toContain('sluice-memory export [--workspace id] [--tenant id] > file.jsonl')
}, 120_000)
