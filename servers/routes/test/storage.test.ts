/** The stored data: destinations and history, per tenant, through disk failures. */

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { maxDestinations } from '../src/database.ts'
import { aFolder, codesOf, openRoutes, textOf } from './server.fixture.ts'

test('a destination is saved, used by its name, changed and deleted', async () => {
  const { call } = await openRoutes()
  await call('save_destination', { name: 'Nhà', address: 'Hội An' })
  expect(codesOf(await call('save_destination', { name: 'nha', address: 'Huế' }))).toEqual(['DESTINATION_EXISTS'])
  expect(textOf(await call('calculate_route', { origin: 'NHÀ', destination: 'Hue', language: 'en' }))).toContain(
    'Nhà → Hue',
  )
  await call('update_destination', { destination: 'nhà', name: 'work', address: '16.07,108.22' })
  const listed = await call('list_destinations', {})
  expect(listed.structuredContent?.['destinations']).toMatchObject([{ name: 'work', lat: 16.07, lon: 108.22 }])
  await call('delete_destination', { destination: 'work' })
  expect(textOf(await call('list_destinations', {}))).toBe('No destinations saved.')
  expect(codesOf(await call('delete_destination', { destination: 'work' }))).toEqual(['DESTINATION_NOT_FOUND'])
})

test('names in other scripts, with numbers or with a further word are different names', async () => {
  const { call, database } = await openRoutes()
  const names = ['家', '公司', 'Дом', 'Дача', '🏠', '🏢', 'Kansas', 'Kansas City', '12/3', '123', 'कि', 'की']
  for (const [index, name] of names.entries()) {
    await call('save_destination', { name, address: `${index},100` })
    await database.savePlace('default', name, { name, lat: index, lon: 100 })
  }
  for (const [lat, name] of names.entries()) {
    expect(await database.destination('default', name)).toMatchObject({ name, lat })
    expect(await database.findPlace('default', name)).toMatchObject({ name, lat })
  }
  expect(codesOf(await call('delete_destination', { destination: '北京' }))).toEqual(['DESTINATION_NOT_FOUND'])
  expect(codesOf(await call('calculate_route', { origin: '北京', destination: 'Hue' }))).toEqual(['PLACE_NOT_FOUND'])
})

test('a database of an earlier version gets the new keys, and loses places that may be wrong', async () => {
  const { folder, database, close } = await openRoutes()
  await database.save('a', { name: 'Căn nhà', address: 'x', lat: 1, lon: 2 })
  await database.savePlace('a', '東京', { name: 'Tokyo', lat: 1, lon: 2 })
  database.sqlite.exec(
    "UPDATE destinations SET folded = 'cannha'; UPDATE places SET text = ''; PRAGMA user_version = 0",
  )
  close()
  const { database: reopened } = await openRoutes({ folder })
  expect(await reopened.destination('a', 'can nha')).toMatchObject({ name: 'Căn nhà' })
  expect(reopened.sqlite.prepare('SELECT * FROM places').all()).toEqual([])
})

test('destinations outlive the process', async () => {
  const first = await openRoutes()
  await first.call('save_destination', { name: 'home', address: 'Huế' })
  first.close()
  const second = await openRoutes({ folder: first.folder })
  expect(await second.database.destinations('default')).toMatchObject([{ name: 'home' }])
})

test("tenants do not see each other's destinations, places and routes", async () => {
  const { database } = await openRoutes()
  await database.save('a', { name: 'home', address: 'x', lat: 1, lon: 2 })
  await database.savePlace('a', 'x', { name: 'X', lat: 1, lon: 2 })
  await database.saveRoute('a', 'id', '{}')
  expect(await database.destination('b', 'home')).toBeUndefined()
  expect(await database.findPlace('b', 'x')).toBeUndefined()
  expect(await database.findRoute('b', 'id')).toBeUndefined()
  const [{ id } = { id: '' }] = await database.destinations('a')
  expect(await database.remove('b', id)).toBe(false)
})

test('every call leaves a row with its id, tool, client, trace and outcome', async () => {
  const { client, history } = await openRoutes()
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  const ask = (args: object): Promise<unknown> =>
    client.request('tools/call', { name: 'calculate_route', arguments: args, _meta: { traceparent } })
  await ask({ origin: 'Hanoi', destination: 'Hue' })
  await ask({ origin: 'Hanoi' })
  expect(
    history
      .recent('default', 10)
      .map(({ status }) => status)
      .sort(),
  ).toEqual(['ERROR', 'SUCCESS'])
  expect(history.recent('default', 10)[0]).toMatchObject({
    tool: 'calculate_route',
    client: 'test',
    traceId: '0af7651916cd43dd8448eb211c80319c',
    receivedAt: '1970-01-01T00:00:00.000Z',
  })
  expect(JSON.stringify(history.recent('default', 10))).not.toContain('Hanoi')
})

test('while the database is locked, calls are served and their rows are added later', async () => {
  const { call, history, folder, lines } = await openRoutes()
  const other = new DatabaseSync(join(folder, 'routes.db'))
  other.exec('BEGIN IMMEDIATE')
  expect(await call('list_destinations', {})).toMatchObject({ isError: false })
  expect(history.recent('default', 10)).toEqual([])
  const waiting = join(folder, 'history.waiting.jsonl')
  expect(readFileSync(waiting, 'utf8').trim().split('\n')).toHaveLength(2)
  expect(lines).toContainEqual(expect.objectContaining({ event: 'history.waiting' }))
  other.exec('COMMIT')
  other.close()
  await call('list_destinations', {})
  expect(history.recent('default', 10).map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS'])
  expect(existsSync(waiting)).toBe(false)
})

test('a destination that cannot be written is refused, not silently lost', async () => {
  const { call, folder } = await openRoutes()
  const other = new DatabaseSync(join(folder, 'routes.db'))
  other.exec('BEGIN IMMEDIATE')
  const answer = await call('save_destination', { name: 'home', address: '16,108', language: 'en' })
  other.close()
  expect(answer).toMatchObject({
    isError: true,
    structuredContent: { type: 'SYSTEM_ERROR', errors: [{ code: 'STORAGE_UNAVAILABLE' }] },
  })
})

test('a short lock of another process is waited for', async () => {
  const { call, folder } = await openRoutes()
  const other = new DatabaseSync(join(folder, 'routes.db'))
  other.exec('BEGIN IMMEDIATE')
  const saving = call('save_destination', { name: 'home', address: '16,108' })
  const routing = call('calculate_route', { origin: 'Hanoi', destination: 'Hue' })
  setImmediate(() => other.close())
  expect(await saving).toMatchObject({ isError: false })
  expect(await routing).toMatchObject({ isError: false })
})

test('two processes on one folder: no call of either fails', { timeout: 120_000 }, async () => {
  const folder = aFolder()
  const run = promisify(execFile)
  const program = fileURLToPath(new URL('./save-destinations.fixture.ts', import.meta.url))
  const counts = await Promise.all(['a', 'b'].map((name) => run(process.execPath, [program, folder, name, '150'])))
  expect(counts.map(({ stdout }) => stdout)).toEqual(['150 saved, 0 failed\n', '150 saved, 0 failed\n'])
})

test('a tenant can save as many destinations as one answer can list', async () => {
  const { database, call } = await openRoutes()
  for (let n = 0; n < maxDestinations; n++)
    await database.save('default', { name: `place ${n}`, address: 'x', lat: 1, lon: 2 })
  expect(codesOf(await call('save_destination', { name: 'one more', address: '16,108' }))).toEqual([
    'TOO_MANY_DESTINATIONS',
  ])
  await call('update_destination', { destination: 'place 1', name: 'renamed' })
  expect(await database.destination('default', 'renamed')).toMatchObject({ name: 'renamed' })
})
