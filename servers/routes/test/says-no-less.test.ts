/** Every tool: the data says what the text says. A tool without a row fails. */

import { expect, test } from 'vitest'
import { saidOnlyInText } from '../../../test/kit/servers/says-no-less.ts'
import { openRoutes } from './server.fixture.ts'

const labels = 'Route Steps about No destinations saved Saved Deleted The request is invalid please fix'
const rows: readonly (readonly [tool: string, args: object])[] = [
  ['calculate_route', { origin: 'Hanoi', destination: 'Saigon', alternatives: 2 }],
  ['calculate_route', { origin: 'Hanoi', waypoints: ['Vinh'], destination: 'Phú Quốc', travel_mode: 'foot' }],
  ['calculate_route', { origin: 'Paris', destination: 'Berlin', travel_mode: 'bicycle' }],
  ['calculate_route', { origin: 'Hanoii', destination: '99,0', alternatives: 9 }],
  ['get_route_with_traffic', { origin: 'Hanoi', destination: 'Hue' }],
  ['geocode_address', { address: 'Da Nang' }],
  ['geocode_address', { address: 'Hanoii' }],
  ['list_destinations', {}],
  ['save_destination', { name: 'home', address: 'Hội An' }],
  ['list_destinations', {}],
  ['update_destination', { destination: 'home', name: 'work', address: '16.07,108.22' }],
  ['delete_destination', { destination: 'work' }],
  ['delete_destination', { destination: 'work' }],
]

test('the data of every tool says what its text says', async () => {
  const { call, client } = await openRoutes()
  const { tools } = (await client.request('tools/list')) as unknown as { tools: readonly { name: string }[] }
  expect(new Set(rows.map(([tool]) => tool))).toEqual(new Set(tools.map(({ name }) => name)))
  for (const [tool, args] of rows)
    expect(
      saidOnlyInText((await call(tool, args)) as never, `${labels} Another`),
      `${tool} ${JSON.stringify(args)}`,
    ).toEqual([])
})
