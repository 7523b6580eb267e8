/** Every tool: the data says what the text says. A tool without a row fails. */

import { expect, test } from 'vitest'
import { saidOnlyInText } from '../../../test/kit/servers/says-no-less.ts'
import { base64, fitFile } from './activity-files.fixture.ts'
import { dataOf, openFitness } from './server.fixture.ts'

const body = { weight_kg: 70, height_cm: 175, age: 35, sex: 'male' }
const rows = (id: string): readonly (readonly [tool: string, args: object])[] => [
  ['get_activities', { limit: 3, mode: 'detailed' }],
  ['get_activities', { limit: 3, format: 'toon' }],
  ['get_athlete', {}],
  ['get_stats', { format: 'toon' }],
  ['get_activity_intelligence', { activity_id: id }],
  ['analyze_training_load', { days: 3, format: 'toon' }],
  ['analyze_performance_trends', { format: 'toon' }],
  ['compare_activities', { activity_id: id, other_id: id, format: 'toon' }],
  ['calculate_fitness_score', {}],
  ['calculate_personalized_zones', { ftp: 250, format: 'toon' }],
  ['predict_performance', { distance_m: 10_000 }],
  ['analyze_sleep_quality', {}],
  ['track_sleep_trends', { format: 'toon' }],
  ['calculate_recovery_score', {}],
  ['suggest_rest_day', {}],
  ['optimize_sleep_schedule', {}],
  ['calculate_daily_nutrition', body],
  ['get_nutrient_timing', { weight_kg: 70, activity_id: id }],
  ['set_goal', { title: 'Far', goal_type: 'distance', target_value: 9, target_date: '2026-12-31' }],
  ['track_progress', { format: 'toon' }],
  ['get_connection_status', { format: 'toon' }],
  ['connect_provider', { provider: 'synthetic' }],
  ['import_activities', { files: [{ name: 'a.fit', content: base64(fitFile()) }] }],
  ['disconnect_provider', { provider: 'files' }],
]

test('the data of every tool says what its text says', async () => {
  const { alice, client } = await openFitness()
  await alice('connect_provider', { provider: 'synthetic' })
  const [activity] = dataOf(await alice('get_activities', { sport_type: 'run' }))['activities'] as readonly {
    id: string
  }[]
  const { tools } = (await client.request('tools/list')) as unknown as { tools: readonly { name: string }[] }
  const all = rows(activity?.id ?? '')
  expect(new Set(all.map(([tool]) => tool))).toEqual(new Set(tools.map(({ name }) => name)))
  for (const [tool, args] of all)
    expect(saidOnlyInText((await alice(tool, args)) as never, ''), `${tool} ${JSON.stringify(args)}`).toEqual([])
})
