/** Suggestions while a person types, and an argument that a load balancer can route by. */

import assert from 'node:assert/strict'
import type { Completer } from 'sluice'
import { defineServer, prompt, resource, tool } from 'sluice'
import { testClient } from 'sluice/testing'
import * as z from 'zod'

const cities = ['bergen', 'berlin', 'bern', 'rome']

const city: Completer = (typed, { country }) =>
  country === 'it' ? ['rome'] : cities.filter((name) => name.startsWith(typed))

const forecast = resource({
  uri: 'weather://{country}/{city}',
  name: 'forecast',
  complete: { city },
  read: ({ city: name }) => `Fine in ${String(name)}`,
})
const packing = prompt({
  name: 'packing',
  description: 'Asks what to pack',
  input: z.object({ city: z.string() }),
  complete: { city },
  run: ({ city: name }) => `What should I pack for ${name}?`,
})

const report = tool({
  name: 'report',
  description: 'Stores a report in its region',
  input: z.object({ region: z.enum(['eu', 'us']).meta({ 'x-mcp-header': 'Region' }), text: z.string() }),
  run: ({ region }) => `Stored in ${region}`,
})

const weather = defineServer({
  name: 'weather',
  version: '1.0.0',
  tools: [report],
  resources: [forecast],
  prompts: [packing],
})

const client = await testClient(weather)
const typing = { ref: { type: 'ref/prompt', name: 'packing' }, argument: { name: 'city', value: 'ber' } }
assert.partialDeepStrictEqual(await client.request('completion/complete', typing), {
  completion: { values: ['bergen', 'berlin', 'bern'], total: 3, hasMore: false },
})
const chosen = {
  ref: { type: 'ref/resource', uri: 'weather://{country}/{city}' },
  argument: { name: 'city', value: '' },
  context: { arguments: { country: 'it' } },
}
assert.partialDeepStrictEqual(await client.request('completion/complete', chosen), {
  completion: { values: ['rome'] },
})
assert.partialDeepStrictEqual(await client.request('tools/list'), {
  tools: [{ inputSchema: { properties: { region: { 'x-mcp-header': 'Region' } } } }],
})
