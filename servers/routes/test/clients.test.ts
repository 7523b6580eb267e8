/** The binary over stdio and HTTP, with the official client. */

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { expect, test } from 'vitest'
import { overHttp, overStdio } from '../../../test/kit/clients/binary.client.ts'
import { aFolder } from './server.fixture.ts'

async function useEveryFeature(client: Client): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'calculate_route',
    'get_route_with_traffic',
    'geocode_address',
    'save_destination',
    'list_destinations',
    'update_destination',
    'delete_destination',
  ])
  const answer = await client.callTool({
    name: 'calculate_route',
    arguments: { origin: 'Hanoi', destination: 'Ho Chi Minh City' },
  })
  expect(answer).toMatchObject({
    isError: false,
    content: [
      { type: 'text' },
      { type: 'resource' },
      { type: 'image', mimeType: 'image/png' },
      { type: 'resource_link', mimeType: 'image/svg+xml' },
    ],
  })
  expect((await client.readResource({ uri: 'history://requests' })).contents[0]).toMatchObject({
    mimeType: 'application/json',
  })
  expect(
    (await client.getPrompt({ name: 'plan-a-trip', arguments: { from: 'Huế', to: 'Vinh' } })).messages,
  ).toHaveLength(1)
}

test('the official client uses every feature over stdio', async () =>
  useEveryFeature(await overStdio('routes', aFolder())))

test('the official client uses every feature over HTTP', async () =>
  useEveryFeature(await (await overHttp('routes', aFolder()))()))
