import { describe, expect, test } from 'vitest'
import type { Activity } from '../src/activity.ts'
import { defaultAthlete } from '../src/activity.ts'
import { loadChart } from '../src/chart.ts'
import { syntheticNights, syntheticYear } from '../src/synthetic.ts'
import { loadOf, riegel, slopeOf, stressOf } from '../src/training.ts'
import { anArchive, dataOf, now, openFitness, textOf } from './server.fixture.ts'

describe('access', () => {
  test('the list of tools is public, calls are not', async () => {
    const { client } = await openFitness()
    const { tools } = (await client.request('tools/list')) as unknown as { tools: readonly { name: string }[] }
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'get_activities',
        'get_athlete',
        'get_stats',
        'get_activity_intelligence',
        'analyze_training_load',
        'analyze_performance_trends',
        'compare_activities',
        'calculate_fitness_score',
        'calculate_personalized_zones',
        'predict_performance',
        'set_goal',
        'track_progress',
        'import_activities',
        'connect_provider',
        'disconnect_provider',
        'get_connection_status',
      ]),
    )
    await expect(client.call('get_activities')).rejects.toMatchObject({ error: { code: 40100 } })
  })
  test('two athletes have two logs', async () => {
    const { alice, as } = await openFitness()
    const bob = await as('bob')
    for (const who of [alice, bob]) await who('connect_provider', { provider: 'synthetic' })
    await alice('set_goal', { title: 'mine', goal_type: 'distance', target_value: 100, target_date: '2026-12-31' })
    expect(textOf(await bob('track_progress'))).toContain('No goal is set yet')
    const ids = async (who: typeof alice): Promise<readonly string[]> =>
      (dataOf(await who('get_activities'))['activities'] as unknown as { id: string }[]).map(({ id }) => id)
    const [hers, his] = [await ids(alice), await ids(bob)]
    expect(hers.some((id) => his.includes(id))).toBe(false)
    expect(textOf(await bob('get_activity_intelligence', { activity_id: hers[0] }))).toContain('Activity not found')
  })
})

/** Tools that answer from the activities. */
const reading = [
  ['get_activities', {}],
  ['get_stats', {}],
  ['analyze_training_load', {}],
  ['analyze_performance_trends', {}],
  ['calculate_fitness_score', {}],
  ['predict_performance', { distance_m: 10_000 }],
] as const

describe('activities', () => {
  test('an empty log is reported by every tool, and reading it makes nothing up', async () => {
    const { alice, archive } = await openFitness()
    for (const [name, args] of reading) expect(textOf(await alice(name, args)), name).toContain('No activities yet')
    expect(await archive.forTenant('alice').count()).toBe(0)
  })
  test('made-up activities come only on request, and are marked in every tool', async () => {
    const { alice, archive } = await openFitness()
    await alice('connect_provider', { provider: 'synthetic' })
    const [first, second] = await archive.forTenant('alice').list({ limit: 2 })
    for (const [name, args] of [
      ...reading,
      ['get_athlete', {}],
      ['get_activity_intelligence', { activity_id: first?.id }],
      ['compare_activities', { activity_id: first?.id, other_id: second?.id }],
      ['analyze_sleep_quality', {}],
      ['track_sleep_trends', {}],
      ['calculate_recovery_score', {}],
      ['suggest_rest_day', {}],
      ['optimize_sleep_schedule', {}],
      ['calculate_daily_nutrition', { weight_kg: 70, height_cm: 175, age: 35, sex: 'female' }],
      ['get_nutrient_timing', { weight_kg: 70, activity_id: first?.id }],
    ] as const)
      expect(dataOf(await alice(name, args)), name).toMatchObject({ synthetic: true })
    await alice('disconnect_provider', { provider: 'synthetic' })
    expect(dataOf(await alice('get_activities'))).toMatchObject({ total: 0, synthetic: false })
  })
  test('made-up activities and nights lie in the past at every hour of the day', () => {
    for (let hour = 0; hour < 24; hour++) {
      const nowMs = now + hour * 3_600_000
      const ends = [
        ...syntheticYear('alice', nowMs).map(({ startedAt, durationS }) => startedAt + durationS),
        ...syntheticNights('alice', nowMs).map(({ endedAt }) => endedAt ?? 0),
      ]
      expect(Math.max(...ends)).toBeLessThan(nowMs / 1000)
    }
  })
  test('made-up activities never count toward a goal', async () => {
    const { alice, clock } = await openFitness()
    await alice('set_goal', { title: 'far', goal_type: 'distance', target_value: 100, target_date: '2026-12-31' })
    await clock.advance(5 * 86_400_000)
    await alice('connect_provider', { provider: 'synthetic' })
    expect(dataOf(await alice('track_progress'))).toMatchObject({ goals: [{ done: 0, synthetic_left_out: true }] })
  })
  test('pages, sports and times filter the list', async () => {
    const { alice } = await openFitness()
    await alice('connect_provider', { provider: 'synthetic' })
    const all = dataOf(await alice('get_activities', { limit: 500, mode: 'detailed' }))['activities'] as unknown as {
      sport: string
      start: string
      id: string
    }[]
    const rides = dataOf(await alice('get_activities', { limit: 500, sport_type: 'ride' }))
    expect(rides['total']).toBe(all.filter(({ sport }) => sport === 'ride').length)
    const after = now / 1000 - 30 * 86_400
    const month = dataOf(await alice('get_activities', { limit: 500, after }))
    expect(month['total']).toBe(all.filter(({ start }) => Date.parse(start) / 1000 >= after).length)
    const page = dataOf(await alice('get_activities', { limit: 5, offset: 5 }))['activities'] as unknown as {
      id: string
    }[]
    expect(page.map(({ id }) => id)).toEqual(all.slice(5, 10).map(({ id }) => id))
  })
  test('TOON changes only the text, on every tool that returns lists', async () => {
    const { alice } = await openFitness()
    await alice('connect_provider', { provider: 'synthetic' })
    await alice('set_goal', { title: 'far', goal_type: 'distance', target_value: 100, target_date: '2026-12-31' })
    const [first, second] = dataOf(await alice('get_activities', { limit: 2 }))['activities'] as unknown as {
      id: string
    }[]
    for (const [name, args] of [
      ['get_activities', { limit: 20 }],
      ['get_stats', {}],
      ['analyze_training_load', {}],
      ['analyze_performance_trends', {}],
      ['compare_activities', { activity_id: first?.id, other_id: second?.id }],
      ['calculate_personalized_zones', {}],
      ['track_progress', {}],
      ['get_connection_status', {}],
    ] as const) {
      const [json, toon] = [await alice(name, args), await alice(name, { ...args, format: 'toon' })]
      expect(toon, name).not.toHaveProperty('structuredContent')
      expect(textOf(toon), name).toMatch(/\[\d+\]\{/)
      expect(textOf(toon).length, name).toBeLessThan(textOf(json).length)
    }
  })
  test('the last visit is recorded, and a failure to record it does not fail the call', async () => {
    const { alice, archive, clock } = await openFitness()
    await alice('get_athlete')
    await expect.poll(() => archive.forTenant('alice').lastActive('alice')).toBe(clock.now())
    const broken = anArchive()
    const failing = {
      ...broken,
      forTenant: (tenant: string) => ({
        ...broken.forTenant(tenant),
        touch: async () => Promise.reject(new Error('down')),
      }),
    }
    const other = await openFitness({ archive: failing })
    expect(await other.alice('get_athlete')).toMatchObject({ isError: false })
    await expect.poll(() => other.lines.map(({ event }) => event)).toContain('last_active.failed')
  })
})

describe('analysis', () => {
  const ride = (day: number, power: number): Activity => ({
    id: `r${day}`,
    provider: 'files',
    sport: 'ride',
    name: '',
    startedAt: now / 1000 - day * 86_400,
    durationS: 3600,
    distanceM: 30_000,
    elevationM: 0,
    averageHr: undefined,
    maxHr: undefined,
    averagePower: power,
    calories: undefined,
  })

  test('an hour at threshold is 100; fitness and fatigue follow by 1/42 and 1/7', () => {
    expect(stressOf(ride(0, defaultAthlete.ftp), defaultAthlete)).toBeCloseTo(100)
    const [first, second] = loadOf([ride(1, defaultAthlete.ftp)], defaultAthlete, now)
    expect(first).toMatchObject({ stress: 100, ctl: 2.4, atl: 14.3, tsb: 0 })
    expect(second?.ctl).toBeCloseTo((100 / 42) * (41 / 42), 1)
    expect(second?.tsb).toBeCloseTo(100 / 42 - 100 / 7, 1)
  })
  test('Riegel: 40 minutes over 10 km predict about 1:28:14 over the half marathon', () => {
    expect(riegel(2400, 10_000, 21_097.5)).toBeCloseTo(2400 * 2.10975 ** 1.06, 6)
    expect(Math.round(riegel(2400, 10_000, 21_097.5) / 60)).toBe(88)
  })
  test('predictions come from the best run, or from given values', async () => {
    const { alice } = await openFitness()
    await alice('connect_provider', { provider: 'synthetic' })
    expect(
      dataOf(await alice('predict_performance', { distance_m: 21_097.5, from_distance_m: 10_000, from_time_s: 2400 })),
    ).toMatchObject({ predicted_s: 5295, predicted: '01:28:15' })
    expect(
      dataOf(await alice('predict_performance', { distance_m: 200_000, from_distance_m: 10_000, from_time_s: 6000 })),
    ).toMatchObject({ predicted_s: 143_629, predicted: '39:53:49' })
    expect(dataOf(await alice('predict_performance', { distance_m: 10_000 }))['predicted_s']).toBeGreaterThan(1500)
    expect(textOf(await alice('predict_performance', { distance_m: 10_000, from_time_s: 100 }))).toContain('Give both')
  })
  test('a week of rest is a gap in a pace, not a zero; a missing measure is not compared', async () => {
    expect(slopeOf([300, null, 310, null, 320])).toBeCloseTo(5)
    expect([slopeOf([]), slopeOf([null, 7]), slopeOf([1, 2, 3])]).toEqual([0, 0, 1])
    const archive = anArchive()
    await archive.forTenant('alice').add([ride(30, 200), { ...ride(2, 200), averageHr: 140 }])
    const { alice } = await openFitness({ archive })
    const { weeks } = dataOf(
      await alice('analyze_performance_trends', { metric: 'heart_rate', timeframe: 'month' }),
    ) as {
      weeks?: readonly { value: number | null }[]
    }
    expect(weeks?.map(({ value }) => value)).toEqual([null, null, null, null, 140])
    const { comparison } = dataOf(await alice('compare_activities', { activity_id: 'r30', other_id: 'r2' }))
    expect(comparison).toContainEqual({ measure: 'average_hr', first: null, second: 140, difference: null })
    expect(comparison).toContainEqual({ measure: 'distance_m', first: 30_000, second: 30_000, difference: 0 })
  })
  test('zones rise, and values that do not are refused', async () => {
    const { alice } = await openFitness()
    const { heart_rate: zones } = dataOf(
      await alice('calculate_personalized_zones', { resting_hr: 50, max_hr: 190 }),
    ) as unknown as { heart_rate: { from: number; to: number }[] }
    expect(zones[0]).toMatchObject({ from: 120, to: 134 })
    expect(zones.at(-1)).toMatchObject({ to: 190 })
    expect(textOf(await alice('calculate_personalized_zones', { resting_hr: 180 }))).toContain('must rise')
  })
  test('goals count the activities within their days', async () => {
    const { alice, clock } = await openFitness()
    await alice('get_activities')
    await alice('set_goal', {
      title: 'ten outings',
      goal_type: 'frequency',
      target_value: 10,
      target_date: '2026-11-30',
    })
    await clock.advance(0)
    const { goals } = dataOf(await alice('track_progress')) as unknown as { goals: { done: number; target: number }[] }
    expect(goals[0]).toMatchObject({ target: 10 })
    expect(
      textOf(await alice('set_goal', { title: 'x', goal_type: 'time', target_value: 1, target_date: '2020-01-01' })),
    ).toContain('That day is in the past')
  })
  test('a pace belongs to one sport, and fewer seconds per kilometre are faster', async () => {
    const archive = anArchive()
    const run = (day: number, seconds: number): Activity => ({
      ...ride(day, 0),
      id: `run${day}`,
      sport: 'run',
      distanceM: 10_000,
      durationS: seconds,
    })
    await archive.forTenant('alice').add([run(25, 3600), run(11, 3300), run(2, 3000), ride(3, 200), ride(1, 200)])
    const { alice } = await openFitness({ archive })
    const trend = await alice('analyze_performance_trends', { metric: 'pace', timeframe: 'month' })
    expect(dataOf(trend)).toMatchObject({ sport_type: 'run', direction: 'faster', synthetic: false })
    const { weeks } = dataOf(trend) as unknown as { weeks: { value: number | null }[] }
    expect(weeks.at(-1)).toMatchObject({ value: 300 })
  })
  test('trends, score, stats and intelligence answer', async () => {
    const { alice } = await openFitness()
    await alice('connect_provider', { provider: 'synthetic' })
    expect(
      dataOf(await alice('analyze_performance_trends', { timeframe: 'year', metric: 'pace', sport_type: 'run' })),
    ).toMatchObject({ unit: 's/km' })
    const { score } = dataOf(await alice('calculate_fitness_score')) as unknown as { score: number }
    expect(score).toBeGreaterThan(0)
    expect(score).toBeLessThanOrEqual(100)
    expect((dataOf(await alice('get_stats'))['stats'] as unknown as unknown[]).length).toBeGreaterThan(5)
    const [row] = dataOf(await alice('get_activities', { limit: 1 }))['activities'] as unknown as { id: string }[]
    expect(dataOf(await alice('get_activity_intelligence', { activity_id: row?.id }))).toHaveProperty('insight')
  })
  test('the chart has three lines, and a name in it cannot become markup', () => {
    const days = loadOf([ride(40, 200), ride(20, 250), ride(1, 220)], defaultAthlete, now)
    const chart = loadChart(days, '<script>alert(1)</script>')
    expect(chart.match(/<polyline/g)).toHaveLength(3)
    expect(chart).not.toContain('<script>')
  })
})
