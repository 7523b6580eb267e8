/** The threads that read files: what a hostile file can cost, and to whom. */

import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { importInto } from '../src/files/import.ts'
import { fitFile, zipOf } from './activity-files.fixture.ts'
import { aFileReader, anArchive } from './server.fixture.ts'

const source = (name: string, content: Uint8Array) => ({ name, read: async () => content })
/** Compresses to some kilobytes and takes many seconds to parse. */
const slow = (): Uint8Array => zipOf({ 'a.gpx': `<gpx>${'<a/>'.repeat(8_000_000)}</gpx>` })
/** Needs more heap than these tests allow. */
const large = (): Uint8Array =>
  zipOf({ 'a.gpx': `<gpx>${Array.from({ length: 500_000 }, (_, n) => `<a${n}/>`).join('')}</gpx>` })

test('a file that exceeds the deadline is left out by name, and the next file is read', async () => {
  const clock = fakeClock()
  const reader = aFileReader({ threads: 1 }, clock)
  const log = anArchive().forTenant('a')
  let done = 0
  const importing = importInto(log, reader, [source('slow.zip', slow()), source('b.fit', fitFile())], (now) => {
    done = now
  })
  // Advances step by step, and only for the first file: its deadline is set some turns after the start.
  await expect
    .poll(async () => {
      if (done < 1) await clock.advance(1_000)
      return done
    })
    .toBeGreaterThanOrEqual(1)
  const imported = await importing
  expect(imported).toEqual({ added: 1, known: 0, nights: 0, skipped: ['slow.zip: reading it takes longer than 20 s'] })
})

test('a file that exceeds the memory of a thread is left out by name, and the next file is read', async () => {
  const reader = aFileReader({ maxHeapMb: 48 })
  const log = anArchive().forTenant('a')
  const imported = await importInto(log, reader, [source('large.zip', large()), source('b.fit', fitFile())], () => {})
  expect(imported).toEqual({ added: 1, known: 0, nights: 0, skipped: ['large.zip: reading it takes more than 48 MB'] })
})

test('imports share the threads, and a cancelled caller stops waiting or reading at once', async () => {
  const reader = aFileReader({ threads: 1 })
  const [first, second] = [new AbortController(), new AbortController()]
  const read = async (name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<number> => {
    let count = 0
    for await (const { activities } of reader.read(name, bytes, signal)) count += activities.length
    return count
  }
  const reading = read('slow.zip', slow(), first.signal)
  const waiting = read('b.fit', fitFile(), second.signal)
  let isRead = false
  const patient = read('c.fit', fitFile()).finally(() => {
    isRead = true
  })
  // Takes as long as another reader's thread needs to start and to read the same file.
  for await (const { share } of aFileReader().read('d.fit', fitFile())) expect(share).toBe(1)
  expect(isRead).toBe(false)
  second.abort(new Error('not wanted'))
  await expect(waiting).rejects.toThrow('not wanted')
  first.abort(new Error('nor this'))
  await expect(reading).rejects.toThrow('nor this')
  expect(await patient).toBe(1)
})
