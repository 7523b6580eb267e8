import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { programOf } from '../../../test/kit/clients/binary.client.ts'
import { loadChart } from '../src/chart.ts'
import { readFileContent } from '../src/files/read.ts'
import { toNight } from '../src/night.ts'
import { clockTime, middleTime, recoveryOf, sleepScoreOf } from '../src/recovery.ts'
import { base64, fitFile, sleepFitFile, zipOf } from './activity-files.fixture.ts'
import { aFolder, dataOf, openFitness } from './server.fixture.ts'

const garmin = (day: number, hours: number) => ({
  calendarDate: `2026-11-${String(day).padStart(2, '0')}`,
  sleepStartTimestampGMT: `2026-11-${String(day - 1).padStart(2, '0')}T22:00:00.0`,
  sleepEndTimestampGMT: `2026-11-${String(day).padStart(2, '0')}T06:00:00.0`,
  deepSleepSeconds: hours * 800,
  lightSleepSeconds: hours * 2000,
  remSleepSeconds: hours * 800,
  awakeSleepSeconds: 1200,
  restingHeartRate: 50,
  avgOvernightHrv: 60,
})
const fitbit = {
  dateOfSleep: '2026-11-16',
  startTime: '2026-11-15T23:10:00.000',
  endTime: '2026-11-16T07:00:00.000',
  minutesAsleep: 420,
  minutesAwake: 50,
  isMainSleep: true,
  levels: { summary: { deep: { minutes: 80 }, light: { minutes: 240 }, rem: { minutes: 100 }, wake: { minutes: 50 } } },
}
const file = (name: string, content: Uint8Array | string) => ({ name, content: base64(content) })

describe('nights from files', () => {
  test('FIT: the stages, the score, resting heart rate and variability', () => {
    expect(readFileContent('night.fit', sleepFitFile())).toMatchObject({
      activities: [],
      nights: [
        {
          ...{ day: '2026-11-16', asleepS: 4 * 3600, deepS: 3600, remS: 3600, lightS: 7200, awakeS: 600 },
          ...{ deviceScore: 71, restingHr: 49, hrvMs: 62 },
        },
      ],
    })
    expect(readFileContent('run.fit', fitFile())).toMatchObject({ activities: [{ sport: 'run' }], nights: [] })
  })
  test('the JSON of Garmin and Fitbit; a nap is left out, and other JSON is refused', () => {
    const read = (entries: unknown) =>
      readFileContent('sleep.json', new TextEncoder().encode(JSON.stringify(entries))).nights
    expect(read([garmin(16, 8)])).toMatchObject([{ day: '2026-11-16', asleepS: 28_800, awakeS: 1200, restingHr: 50 }])
    expect(read([fitbit, { ...fitbit, isMainSleep: false }])).toMatchObject([
      { day: '2026-11-16', isLocalTime: true, asleepS: 25_200, deepS: 4800, awakeS: 3000 },
    ])
    expect(() => read([{ steps: 4 }])).toThrow('no sleep of Garmin or Fitbit')
    expect(() => readFileContent('sleep.json', new TextEncoder().encode('{'))).toThrow('not JSON')
  })
  test('an archive: activities and sleep together, other JSON ignored; a second import adds nothing', async () => {
    const { alice } = await openFitness()
    const archive = zipOf({
      'a.fit': fitFile({ start: '2026-11-14T07:00:00Z' }),
      'DI_CONNECT/2026_sleepData.json': JSON.stringify([garmin(15, 7), garmin(16, 8)]),
      'other.json': '{',
    })
    const add = async () => dataOf(await alice('import_activities', { files: [file('export.zip', archive)] }))
    expect(await add()).toMatchObject({ added: 1, nights: 2, skipped: [] })
    expect(await add()).toMatchObject({ added: 0, known: 1, nights: 0 })
  })
})

describe('sleep', () => {
  test('one night, a trend of seven, and the time to go to bed', async () => {
    const { alice, as } = await openFitness()
    const nights = Array.from({ length: 10 }, (_, at) => garmin(7 + at, 6 + at * 0.2))
    await alice('import_activities', { files: [file('sleepData.json', JSON.stringify(nights))] })
    expect(dataOf(await alice('analyze_sleep_quality'))).toMatchObject({
      night: { day: '2026-11-16', asleep_h: 7.8 },
      parts: { duration: 98, efficiency: 100, stages: 100 },
    })
    const trend = dataOf(await alice('track_sleep_trends'))
    expect(trend).toMatchObject({ direction: 'longer', average_h: 6.9, nights_under_7_h: 5 })
    expect(trend['nights']).toHaveLength(10)
    const schedule = dataOf(await alice('optimize_sleep_schedule', { utc_offset_hours: 7 }))
    expect(schedule).toMatchObject({ usual_bedtime: '05:00', usual_wake_time: '13:00' })
    expect(JSON.stringify(schedule['assumes'])).toContain('UTC + 7 h')
    // Another tenant has none of it.
    const bob = await as('bob')
    expect(dataOf(await bob('analyze_sleep_quality'))).toMatchObject({ note: expect.stringContaining('No nights yet') })
    expect(dataOf(await bob('track_sleep_trends'))).toMatchObject({ nights: [] })
  })
  test('times of day go round at midnight', () => {
    expect(middleTime([23 * 60 + 30, 30])).toBe(0)
    expect(clockTime(-30)).toBe('23:30')
    expect(middleTime([])).toBeUndefined()
  })
  test('without stages the score comes from the rest', () => {
    const night = toNight({ day: '2026-11-16', provider: 'files', asleepS: 28_800, awakeS: 0 })
    expect(sleepScoreOf(night)).toEqual({ score: 100, duration: 100, efficiency: 100, stages: null })
    expect(sleepScoreOf(toNight({ day: '2026-11-16', provider: 'files' }))).toBeUndefined()
  })
})

describe('recovery', () => {
  const night = (day: string, restingHr: number, hrvMs: number) =>
    toNight({ day, provider: 'files', asleepS: 28_800, awakeS: 0, restingHr, hrvMs })
  const usual = ['2026-11-15', '2026-11-14', '2026-11-13', '2026-11-12'].map((day) => night(day, 50, 60))
  test('uses what is known, and says what is missing', () => {
    expect(recoveryOf([], undefined, '2026-11-16', '2026-11-15')).toMatchObject({ score: null, parts: [] })
    expect(recoveryOf([], 10, '2026-11-16', '2026-11-15')).toMatchObject({
      score: 100,
      missing: ['sleep', 'resting heart rate', 'heart-rate variability'],
    })
    const good = recoveryOf([night('2026-11-16', 50, 60), ...usual], 0, '2026-11-16', '2026-11-15')
    const bad = recoveryOf([night('2026-11-16', 58, 30), ...usual], 0, '2026-11-16', '2026-11-15')
    expect(good.missing).toEqual([])
    expect(good.score).toBeGreaterThan((bad.score ?? 0) + 30)
    // A night of last week says nothing about today.
    expect(recoveryOf([night('2026-11-08', 50, 60)], 0, '2026-11-16', '2026-11-15').missing).toContain('sleep')
  })
  test('a week of hard training ends in a rest day', async () => {
    const { alice } = await openFitness()
    expect(dataOf(await alice('suggest_rest_day'))).toMatchObject({ suggestion: 'unknown' })
    const files = Array.from({ length: 8 }, (_, at) =>
      file(`${at}.fit`, fitFile({ start: `2026-11-${String(8 + at).padStart(2, '0')}T07:00:00Z`, seconds: 9000 })),
    )
    await alice('import_activities', { files })
    const rest = dataOf(await alice('suggest_rest_day'))
    expect(rest).toMatchObject({ suggestion: 'rest', days_in_a_row: 8 })
    expect(JSON.stringify(rest['reasons'])).toContain('each of the last 8 days')
  })
})

test('nutrition counts the training of the week, and says what it assumes', async () => {
  const { alice } = await openFitness()
  const body = { weight_kg: 70, height_cm: 175, age: 35, sex: 'male' }
  const before = dataOf(await alice('calculate_daily_nutrition', body))
  // 10 × 70 + 6.25 × 175 − 5 × 35 + 5
  expect(before).toMatchObject({ resting_kcal: 1624, training_kcal_per_day: 0, energy_kcal: 2273 })
  await alice('import_activities', { files: [file('a.fit', fitFile({ start: '2026-11-14T07:00:00Z' }))] })
  const after = dataOf(await alice('calculate_daily_nutrition', body))
  expect(after).toMatchObject({ training_kcal_per_day: 91 })
  expect(JSON.stringify(after['assumes'])).toContain('1 activities, 0.8 h; 1 of them')
  const [activity] = dataOf(await alice('get_activities'))['activities'] as readonly { id: string }[]
  expect(dataOf(await alice('get_nutrient_timing', { weight_kg: 70, activity_id: activity?.id }))).toMatchObject({
    duration_min: 50,
    before: { carbohydrate_g: '70–140' },
  })
  expect(
    dataOf(await alice('get_nutrient_timing', { weight_kg: 70, duration_min: 180, intensity: 'hard' })),
  ).toMatchObject({
    during: { carbohydrate_g_per_hour: '60–90' },
  })
})

test('zones and load say which values are typical ones and not the athlete’s', async () => {
  const { alice } = await openFitness()
  const zones = dataOf(await alice('calculate_personalized_zones'))
  expect(JSON.stringify(zones['assumes'])).toContain('resting heart rate 55 bpm, maximum heart rate 190 bpm')
  await alice('import_activities', { files: [file('a.fit', fitFile({ start: '2026-11-14T07:00:00Z' }))] })
  const assumed = async () => JSON.stringify(dataOf(await alice('analyze_training_load'))['assumes'])
  expect(await assumed()).toContain('0 by power, 1 by average heart rate, 0 without either')
  expect(await assumed()).toContain('threshold heart rate 168 bpm')
  // The athlete gives the typical values: then they are not assumed any more.
  const given = { resting_hr: 55, max_hr: 190, threshold_hr: 168, ftp: 220 }
  expect(dataOf(await alice('calculate_personalized_zones', given))).toMatchObject({ assumes: [] })
  expect(await assumed()).not.toContain('typical')
})

test('no label of the chart leaves the picture', () => {
  for (const count of [1, 2, 30, 62, 365])
    for (const end of ['2026-11-01', '2026-11-30', '2026-12-31']) {
      const days = Array.from({ length: count }, (_, at) => ({
        day: new Date(Date.parse(end) - (count - 1 - at) * 86_400_000).toISOString().slice(0, 10),
        ...{ stress: 50, ctl: 40, atl: 60, tsb: -120 },
      }))
      for (const [, x, label] of loadChart(days, 'Training load (made-up data)').matchAll(
        /<text x="([\d.]+)" y="350" text-anchor="middle">([\d-]+)</g,
      )) {
        const half = (label?.length ?? 0) * 3.5
        expect(Number(x) - half).toBeGreaterThanOrEqual(0)
        expect(Number(x) + half).toBeLessThanOrEqual(720)
      }
    }
})

test('the command says for which tenant and where it imported, and names likely mistakes', () => {
  const folder = aFolder()
  const run = (...args: string[]) => {
    const { stdout, stderr } = spawnSync(process.execPath, [programOf('fitness'), 'import', ...args], {
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, XDG_DATA_HOME: join(folder, 'home'), SLUICE_DATA: '' },
    })
    return { stdout, stderr }
  }
  writeFileSync(join(folder, 'a.fit'), fitFile())
  writeFileSync(join(folder, 'sleep-2026.json'), JSON.stringify([garmin(16, 8)]))
  const first = run('a.fit', 'sleep-2026.json')
  expect(first.stdout).toBe('1 added, 0 already known, 0 left out, 1 new night of sleep\n')
  expect(first.stderr).toBe(`for tenant "default" in ${join(folder, 'home/sluice/servers/fitness')}\n`)
  mkdirSync(join(folder, '.sluice', 'servers', 'fitness'), { recursive: true })
  expect(run('a.fit').stderr).toContain('to import for it, add --data .sluice')
  const other = run('a.fit', '--data', '.sluice', '--tenant', 'anna')
  expect(other.stderr).toContain('Tenant "anna" had no data before; with data: none.')
  expect(run('a.fit', '--data', '.sluice', '--tenant', 'anna').stderr).not.toContain('had no data')
  expect(run('a.fit', '--data', '.sluice', '--tenant', 'ana').stderr).toContain('with data: anna')
})
