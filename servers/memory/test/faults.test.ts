/** Kills, full disks, locks, damage and a lost database give clear messages, and no acknowledged memory is lost. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, statSync, writeSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { serverFolder } from 'sluice/main'
import { postgresDatabase } from 'sluice/postgres'
import { afterEach, expect, test } from 'vitest'
import { programOf } from '../../../test/kit/clients/binary.client.ts'
import { startPostgres } from '../../../test/kit/processes/postgres.ts'
import { enlargeDisk, mountSmallDisk } from '../../../test/kit/processes/small-disk.ts'
import { holdLock } from '../../../test/kit/processes/sqlite-lock.ts'
import type { OpenedMemory } from './server.fixture.ts'
import { aFolder, openMemory, textOf } from './server.fixture.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** Runs the binary over stdio, which stores memories until it is killed. Returns the acknowledged ones. */
async function storeUntilKilled(data: string, round: number, kills: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [programOf('memory'), '--data', data], { stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  child.stdin.on('error', () => {})
  const acknowledged: string[] = []
  const send = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const add = (n: number): void =>
    send({
      id: n,
      method: 'tools/call',
      params: { name: 'add_memory', arguments: { text: textFor(round, n), metadata: { tags: [`r${round}`] } } },
    })
  let sent = 0
  for (const line of await firstLine(child.stdout, send)) expect(line).toContain('protocolVersion')
  for (; sent < 8; sent++) add(sent + 1)
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, result } = JSON.parse(line)
    if (result?.isError !== false) throw new Error(line)
    acknowledged.push(textFor(round, id))
    if (acknowledged.length === kills) child.kill('SIGKILL')
    add(++sent)
  }
  await ended
  return acknowledged
}
const textFor = (round: number, n: number): string =>
  `round${round}note${n} ${'some words that take their room '.repeat(20)}`

async function firstLine(stdout: NodeJS.ReadableStream, send: (message: object) => void): Promise<readonly string[]> {
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  send({ id: 0, method: 'initialize', params: opening })
  const [chunk] = await once(stdout, 'data')
  send({ method: 'notifications/initialized' })
  return [String(chunk)]
}

test('repeated kill −9 while storing loses no acknowledged memory', async () => {
  const data = aFolder()
  const folder = serverFolder(data, 'memory')
  for (const [round, kills] of [3, 17, 60].entries()) {
    const acknowledged = await storeUntilKilled(data, round, kills)
    expect(acknowledged.length).toBeGreaterThanOrEqual(kills)
    const memory = await openMemory({ folder })
    for (const text of acknowledged) expect(await memory.search(text.split(' ')[0] ?? '')).toEqual([text.trim()])
    await memory.close()
    const database = new DatabaseSync(join(folder, 'memory.db'))
    expect(Object.values(database.prepare('PRAGMA integrity_check').get() ?? {})).toEqual(['ok'])
    database.exec("INSERT INTO words_1 (words_1) VALUES ('integrity-check')")
    const counted = database
      .prepare(
        'SELECT memories, chunks, (SELECT count(*) FROM memories) AS m, (SELECT count(*) FROM chunks) AS c FROM workspaces',
      )
      .get()
    expect([counted?.['memories'], counted?.['chunks']]).toEqual([counted?.['m'], counted?.['c']])
    database.close()
  }
}, 120_000)

test('a deleted memory leaves neither its text nor its words in the tables', async () => {
  const memory = await openMemory()
  const id = await memory.add('a secret in many words '.repeat(200), { tags: ['t'] })
  await memory.call('delete_memory', { memory_id: id, confirm: true })
  const database = new DatabaseSync(join(memory.folder, 'memory.db'))
  for (const table of ['memories', 'chunks', 'tags', 'words_1_docsize'])
    expect(Object.values(database.prepare(`SELECT count(*) FROM ${table}`).get() ?? {})).toEqual([0])
  database.close()
})

const tryToAdd = async ({ call }: OpenedMemory, text = 'more'): Promise<string> => {
  const answer = await call('add_memory', { text })
  expect(answer.isError).toBe(true)
  return textOf(answer)
}

test('a locked file: storing reports it, searching works, and storing works again after the lock', async () => {
  const memory = await openMemory()
  await memory.add('kept')
  const lock = await holdLock(join(memory.folder, 'memory.db'))
  // Other work of this process continues in the meantime.
  let ticks = 0
  const timer = setInterval(() => ticks++, 5)
  expect(await tryToAdd(memory)).toBe(
    'The store is locked by another process. Nothing was changed, and earlier memories are safe. Tell the user, and try again later.',
  )
  clearInterval(timer)
  expect(ticks).toBeGreaterThan(20)
  expect(await memory.search('kept')).toEqual(['kept'])
  await lock.release()
  await memory.add('after the lock')
  expect(await memory.search('lock')).toEqual(['after the lock'])
})

test('a full disk: storing reports it, earlier memories are there, and storing works again with free space', async ({
  skip,
}) => {
  const disk = mountSmallDisk(closing)
  if (!disk) return skip('needs the right to mount')
  const memory = await openMemory({ folder: disk })
  const stored: string[] = []
  let message = ''
  for (let n = 0; n < 100 && message === ''; n++) {
    const answer = await memory.call('add_memory', { text: `note${n} ${'lorem ipsum dolor '.repeat(1000)}` })
    if (answer.isError) message = textOf(answer)
    else stored.push(`note${n}`)
  }
  expect(message).toMatch(/^The store is on a full disk\. Nothing was changed/)
  expect(stored.length).toBeGreaterThan(3)
  for (const word of stored) expect(await memory.search(word)).toHaveLength(1)
  expect((await memory.call('get_stats')).structuredContent.total_memories).toBe(stored.length)
  enlargeDisk(disk)
  await memory.add('there is room again')
  expect(await memory.search('room')).toEqual(['there is room again'])
  await memory.close()
})

test('a damaged file is reported as such, without paths or internal details', async () => {
  const first = await openMemory()
  for (let n = 0; n < 50; n++) await first.add(`note ${n} ${'many different words here '.repeat(50)}`)
  await first.close()
  const path = join(first.folder, 'memory.db')
  const file = openSync(path, 'r+')
  // The first page stays intact, so that the file opens and the damage is found later.
  for (let at = 4096; at < statSync(path).size; at += 4096) writeSync(file, Buffer.alloc(400, 0xa5), 0, 400, at)
  closeSync(file)
  const message = await openMemory({ folder: first.folder }).then(
    async (memory) => textOf(await memory.call('search_memory', { query: 'note' })),
    (thrown: unknown) => String(thrown),
  )
  expect(message).toMatch(/damaged/)
  expect(message).not.toMatch(/SQLITE|SELECT|words_/)
})

test('the database of another program is not touched', async () => {
  const folder = aFolder()
  const other = new DatabaseSync(join(folder, 'memory.db'))
  other.exec('CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)')
  other.close()
  await expect(openMemory({ folder })).rejects.toThrow('it is the database of another program')
})

test('a lost PostgreSQL gives a clear message; after a kill and a restart every acknowledged memory is there', async () => {
  const postgres = await startPostgres()
  closing.push(() => postgres.stop())
  // An embedding service is configured, but Debian's PostgreSQL has no vectors: search is by words, and no call waits.
  const memory = await openMemory({ env: { SLUICE_MEMORY_POSTGRES: postgres.url, SLUICE_MEMORY_EMBEDDINGS: 'ollama' } })
  for (let n = 0; n < 20; n++) await memory.add(`note${n} in the database`)
  await postgres.kill()
  expect(await tryToAdd(memory)).toBe(
    'The store is away. Earlier memories are safe. A change may have been made, so look before you repeat it. Tell the user, and try again later.',
  )
  expect(textOf(await memory.call('search_memory', { query: 'note3' }))).toMatch(/^The store is away/)
  await postgres.start()
  expect((await memory.call('get_stats')).structuredContent.total_memories).toBe(20)
  expect(await memory.search('note3')).toEqual(['note3 in the database'])
  await memory.close()
}, 120_000)

test('a connection that breaks before the answer to a commit leaves the change in doubt, and the message says so', async () => {
  const postgres = await startPostgres()
  closing.push(() => postgres.stop())
  const proxy = createServer((socket) => {
    const upstream = connect(postgres.socket)
    let isAnswerLost = false
    socket.on('data', (bytes) => {
      isAnswerLost ||= breaks && bytes.includes('COMMIT')
      upstream.write(bytes)
    })
    upstream.on('data', (bytes) => (isAnswerLost ? socket.destroy() : socket.write(bytes)))
    socket.on('error', () => {}).on('close', () => upstream.destroy())
    upstream.on('error', () => {}).on('close', () => socket.destroy())
  })
  let breaks = false
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  closing.push(() => proxy.close())
  const address = proxy.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const memory = await openMemory({ env: { SLUICE_MEMORY_POSTGRES: `postgresql://sluice@127.0.0.1:${port}/postgres` } })
  breaks = true
  expect(await tryToAdd(memory, 'a heron')).toContain('A change may have been made, so look before you repeat it')
  breaks = false
  expect(await memory.search('heron')).toEqual(['a heron'])
  await memory.close()
})

test('an account that may not create tables uses those that are there', async () => {
  const postgres = await startPostgres()
  closing.push(() => postgres.stop())
  const first = await openMemory({ env: { SLUICE_MEMORY_POSTGRES: postgres.url } })
  await first.add('a heron')
  await first.close()
  const admin = postgresDatabase({ url: postgres.url })
  await admin.query(`CREATE ROLE guest LOGIN; GRANT USAGE ON SCHEMA sluice_memory TO guest;
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA sluice_memory TO guest`)
  await admin.close()
  const memory = await openMemory({ env: { SLUICE_MEMORY_POSTGRES: postgres.url.replace('sluice@', 'guest@') } })
  await memory.add('a second heron')
  expect(await memory.search('second')).toEqual(['a second heron'])
  await memory.close()
})

test('an unreachable PostgreSQL is reported at the start, without its password', async () => {
  const url = 'postgresql://someone:secret@127.0.0.1:1/none'
  const thrown: unknown = await openMemory({ env: { SLUICE_MEMORY_POSTGRES: url } }).catch((error: unknown) => error)
  expect(String(thrown)).toContain('The store is away')
  expect(String(thrown)).not.toContain('secret')
})
