import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { importInto } from '../src/files/import.ts'
import { readActivities, UnreadableFile } from '../src/files/read.ts'
import { base64, fitFile, gpxFile, tcxFile, zipOf } from './activity-files.fixture.ts'
import { aFileReader, aFolder, anArchive, dataOf, openFitness } from './server.fixture.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const readActivity = (name: string, content: Uint8Array) => readActivities(name, content)[0]

describe('real files', () => {
  test('a FIT file is read', () => {
    expect(readActivity('a.fit', fitFile())).toMatchObject({
      sport: 'run',
      startedAt: Date.parse('2026-03-01T07:00:00Z') / 1000,
      durationS: 3000,
      distanceM: 10_000,
      elevationM: 120,
      averageHr: 151,
      maxHr: 172,
      calories: 640,
    })
  })
  test('GPX: distance, climb and heart rate are computed from its points', () => {
    const read = readActivity('a.gpx', bytes(gpxFile()))
    expect(read).toMatchObject({
      sport: 'run',
      name: 'Round the lake',
      durationS: 600,
      elevationM: 40,
      averageHr: 145,
      maxHr: 150,
    })
    expect(read?.distanceM).toBeGreaterThan(1100)
    expect(read?.distanceM).toBeLessThan(1125)
  })
  test('a time without a zone is UTC, wherever the server runs', () => {
    vi.stubEnv('TZ', 'America/New_York')
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const startedAt = Date.parse('2026-03-08T07:30:00Z') / 1000
    for (const start of ['2026-03-08T07:30:00', '2026-03-08T07:30:00.000', '2026-03-08T09:30:00+02:00'])
      expect(readActivity('a.tcx', bytes(tcxFile({ start }))), start).toMatchObject({ startedAt })
    const gpx = gpxFile({ start: '2026-03-08T07:30:00Z' }).replaceAll('Z</time>', '</time>')
    expect(readActivity('a.gpx', bytes(gpx))).toMatchObject({ startedAt, durationS: 600 })
  })
  test('impossible values are refused by name, because they would distort every sum', () => {
    const refused =
      (file: string): unknown =>
      () =>
        readActivity('a.tcx', bytes(file))
    expect(refused(tcxFile({ seconds: -3600 }))).toThrow('a.tcx: durationS of -3600 is impossible')
    expect(refused(tcxFile({ metres: 1e300 }))).toThrow('a.tcx: distanceM of 1e+300 is impossible')
    expect(refused(tcxFile().replace('138', '9000'))).toThrow('a.tcx: averageHr of 9000 is impossible')
    expect(refused(gpxFile().replaceAll('<ele>34', '<ele>1e300'))).toThrow('a.tcx: elevationM of 1e+300 is impossible')
    expect(readActivity('a.tcx', bytes(tcxFile({ seconds: 0, metres: 0 })))).toMatchObject({ durationS: 0 })
  })
  test('every activity of a TCX file is read, each with its own id', () => {
    const starts = ['2026-03-03T07:00:00Z', '2026-03-04T07:00:00Z', '2026-03-05T07:00:00Z']
    const activities = starts.map((start) => /<Activity .*<\/Activity>/s.exec(tcxFile({ start }))?.[0])
    const file = tcxFile().replace(/<Activity .*<\/Activity>/s, `${activities.join('')}<Activity><Id>x</Id></Activity>`)
    const read = readActivities('year.tcx', bytes(file))
    expect(read.map(({ startedAt }) => startedAt * 1000)).toEqual(starts.map(Date.parse))
    expect(new Set(read.map(({ id }) => id)).size).toBe(3)
    expect(read[0]?.id).toMatch(/^file-[0-9a-f]{16}$/)
  })
  test('TCX, and files that are compressed again', () => {
    expect(readActivity('a.tcx.gz', gzipSync(tcxFile()))).toMatchObject({
      sport: 'ride',
      distanceM: 20_000,
      durationS: 3600,
      averageHr: 138,
      maxHr: 160,
      calories: 500,
    })
  })
})

describe('untrusted files', () => {
  test.each([
    ['nothing', bytes('')],
    ['text', bytes('hello')],
    ['half a FIT', fitFile().subarray(0, 40)],
    ['a damaged FIT', fitFile().map((byte, at) => (at === 60 ? byte ^ 255 : byte))],
    ['entities', bytes('<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><gpx><trk/></gpx>')],
    ['no times', bytes('<gpx><trk><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>')],
    ['broken XML', bytes('<gpx><trk')],
    ['a gzip that is none', new Uint8Array([0x1f, 0x8b, 1, 2, 3])],
    ['a gzip bomb', gzipSync(Buffer.alloc(80 * 1024 * 1024))],
  ])('%s is left out with a reason', (_, content) => {
    expect(() => readActivity('x', content)).toThrow(UnreadableFile)
  })
  test('arbitrary bytes never make it throw anything else', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.constantFrom('', '<gpx>', '<TrainingCenterDatabase>', '.FIT'),
        (noise, start) => {
          try {
            readActivity('x', Buffer.concat([bytes(start), noise]))
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(UnreadableFile)
          }
        },
      ),
      { seed: 3, numRuns: 500 },
    )
  })
})

describe('importing', () => {
  const source = (name: string, content: Uint8Array) => ({ name, read: async () => content.slice() })
  test("a provider's ZIP: activities are imported, other files ignored, damaged ones reported", async () => {
    const log = anArchive().forTenant('a')
    const zip = zipOf({
      'activities/1.fit': fitFile(),
      'activities/2.gpx': gpxFile(),
      '../../3.tcx': tcxFile(),
      'profile.csv': 'a,b',
      'activities/4.fit': 'no',
    })
    const seen: number[] = []
    const imported = await importInto(log, aFileReader(), [source('export.zip', zip)], (done) => seen.push(done))
    expect(imported).toMatchObject({ added: 3, known: 0, nights: 0, skipped: [expect.stringContaining('4.fit')] })
    expect(await importInto(log, aFileReader(), [source('again.zip', zip)], () => {})).toMatchObject({
      added: 0,
      known: 3,
    })
    expect(seen).toEqual([0, 1])
  })
  test('a large ZIP reports progress and can be cancelled', async () => {
    const log = anArchive().forTenant('a')
    let state = 1
    const filler = new Uint8Array(200_000).map(() => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state >>> 24
    })
    const names = Array.from({ length: 6 }, (_, n) => n)
    const zip = zipOf(
      Object.fromEntries(
        names.flatMap((n) => [
          [`${n}.fit`, fitFile({ start: `2026-03-0${n + 1}T07:00:00Z` })],
          [`${n}.jpg`, filler.map((byte) => byte ^ n)],
        ]),
      ),
    )
    const seen: number[] = []
    await importInto(log, aFileReader(), [source('export.zip', zip)], (done) => seen.push(done))
    expect(seen.length).toBeGreaterThan(3)
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
    expect([seen[0], seen.at(-1)]).toEqual([0, 1])
    const stop = new AbortController()
    const stopped = importInto(
      log,
      aFileReader(),
      [source('export.zip', zip)],
      (done) => done > 0 && stop.abort(),
      stop.signal,
    )
    await expect(stopped).rejects.toThrow('abort')
  })
  test('a ZIP bomb and a truncated ZIP are rejected, and nothing else is lost', async () => {
    const log = anArchive().forTenant('a')
    const bomb = zipOf({ 'a.gpx': new Uint8Array(65 * 1024 * 1024) })
    expect(await importInto(log, aFileReader(), [source('bomb.zip', bomb)], () => {})).toMatchObject({
      added: 0,
      skipped: [expect.stringContaining('too large when unpacked')],
    })
    const cut = zipOf({ 'a.fit': fitFile() }).subarray(0, 60)
    expect(
      await importInto(log, aFileReader(), [source('cut.zip', cut), source('b.fit', fitFile())], () => {}),
    ).toMatchObject({
      added: 1,
    })
  })
  test('the tool reports progress, and real data removes the made-up data', async () => {
    const { alice, client } = await openFitness()
    await alice('connect_provider', { provider: 'synthetic' })
    expect(dataOf(await alice('get_activities'))).toMatchObject({ synthetic: true })
    const files = [
      { name: 'a.fit', content: base64(fitFile()) },
      { name: 'b.gpx', content: base64(gpxFile()) },
    ]
    expect(dataOf(await alice('import_activities', { files }))).toEqual({ added: 2, known: 0, nights: 0, skipped: [] })
    expect(dataOf(await alice('get_activities'))).toMatchObject({ total: 2, synthetic: false })
    expect(client.received).toMatchObject([
      { params: { progress: 0, total: 2 } },
      { params: { progress: 1, total: 2 } },
      { params: { progress: 2, total: 2 } },
    ])
  })
  test('the command imports folders', () => {
    const folder = aFolder()
    writeFileSync(join(folder, 'a.fit'), fitFile())
    writeFileSync(join(folder, 'b.tcx'), tcxFile())
    const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
    const run = (): string =>
      execFileSync(process.execPath, [main, 'import', folder, '--data', join(folder, 'data')]).toString()
    expect(run()).toBe('2 added, 0 already known, 0 left out\n')
    expect(run()).toBe('0 added, 2 already known, 0 left out\n')
  })
})
