import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { openDatabase } from './sqlite-file.ts'
import type { DataSync } from './sqlite-sync.ts'
import { createWriter } from './sqlite-writer.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

type Callback = Parameters<DataSync>[1]

/** A file of numbers, on a disk that ends each sync when the test says so. */
function open() {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-writer-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  const database = openDatabase(join(folder, 'numbers.db'), {
    applicationId: 1,
    migrations: ['PRAGMA application_id = 1; CREATE TABLE numbers (n INTEGER PRIMARY KEY)'],
  })
  const syncs: Callback[] = []
  const datasync = ((_fd: number, callback: Callback) => {
    syncs.push(callback)
  }) as DataSync
  const writer = createWriter(database, { datasync })
  closing.push(() => writer.close())
  const insert = database.prepare('INSERT INTO numbers VALUES (?)')
  const acknowledged: number[] = []
  return {
    writer,
    syncs,
    acknowledged,
    write: (n: number): Promise<unknown> => writer.write(() => insert.run(n)).then(() => acknowledged.push(n)),
    numbers: (): readonly unknown[] =>
      database
        .prepare('SELECT n FROM numbers')
        .all()
        .map(({ n }) => n),
  }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
/** Enough turns for a commit and the start of its sync. */
async function settle(): Promise<void> {
  for (let turns = 0; turns < 5; turns++) await turn()
}

test('a write is acknowledged when the disk has it, and one turn has one sync', async () => {
  const { write, syncs, acknowledged, numbers } = open()
  const writes = [write(1), write(2)]
  await settle()
  expect(numbers()).toEqual([1, 2])
  expect(acknowledged).toEqual([])
  expect(syncs).toHaveLength(1)
  syncs[0]?.(null)
  await Promise.all(writes)
  expect(acknowledged).toEqual([1, 2])
})

test('a write during a sync waits for the next one, which serves all that came meanwhile', async () => {
  const { write, syncs, acknowledged } = open()
  const writes = [write(1)]
  await settle()
  for (const n of [2, 3]) {
    writes.push(write(n))
    await settle()
  }
  expect(syncs).toHaveLength(1)
  syncs[0]?.(null)
  await settle()
  expect(acknowledged).toEqual([1])
  expect(syncs).toHaveLength(2)
  syncs[1]?.(null)
  await Promise.all(writes)
  expect(acknowledged).toEqual([1, 2, 3])
})

test('after a failed sync the write and all later ones are refused, and reads go on', async () => {
  const { write, syncs, acknowledged, numbers } = open()
  // The second one is committed during the sync that fails.
  const outcomes = [write(1), settle().then(() => write(2))].map((each) => each.catch((thrown: unknown) => thrown))
  await settle()
  await settle()
  expect(numbers()).toEqual([1, 2])
  syncs[0]?.(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }))
  const refused = {
    reason: 'storeUnavailable',
    message: 'The store is stopped, because its disk failed: check the disk, then restart',
  }
  await settle()
  expect(syncs).toHaveLength(1)
  expect(await Promise.all(outcomes)).toMatchObject([{ ...refused, cause: { code: 'EIO' } }, refused])
  await expect(write(3)).rejects.toMatchObject(refused)
  expect(acknowledged).toEqual([])
  expect(numbers()).not.toContain(3)
})

test('closing waits for the disk, and refuses what comes after it', async () => {
  const { writer, write, syncs, acknowledged } = open()
  const first = write(1)
  let isClosed = false
  const closing = [writer.close(), writer.close()]
  const closed = Promise.race(closing).then(() => {
    isClosed = true
  })
  await expect(write(2)).rejects.toMatchObject({ message: 'The store is closed' })
  await settle()
  expect([isClosed, acknowledged]).toEqual([false, []])
  syncs[0]?.(null)
  await Promise.all([first, closed])
  expect(acknowledged).toEqual([1])
})

test('whatever the schedule, only what a finished sync began after is acknowledged', async () => {
  const step = fc.constantFrom('write', 'end a sync', 'wait')
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const { writer, write, syncs, acknowledged, numbers } = open()
      /** What was committed when each sync began. */
      const covered: number[] = []
      let [next, ended] = [0, 0]
      const writes: Promise<unknown>[] = []
      const observe = (): void => {
        while (covered.length < syncs.length) covered.push(numbers().length)
      }
      for (const each of steps) {
        if (each === 'write') writes.push(write(next++))
        else if (each === 'wait') await settle()
        else if (ended < syncs.length) syncs[ended++]?.(null)
        await settle()
        observe()
        expect(acknowledged.length).toBe(covered[ended - 1] ?? 0)
      }
      const closed = writer.close()
      while (acknowledged.length < next) {
        await settle()
        if (ended < syncs.length) syncs[ended++]?.(null)
      }
      await Promise.all([...writes, closed])
    }),
    { numRuns: 100 },
  )
})
