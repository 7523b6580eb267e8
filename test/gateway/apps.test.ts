/** Pages of apps through the gateway, with a server of others that has one: the budget allocator of ext-apps. */

import type { ServerDefinition } from 'sluice'
import type { Client } from 'sluice/client'
import { connect } from 'sluice/client'
import { stdioTransport } from 'sluice/client-node'
import type { Gateway } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { expect, onTestFinished, test } from 'vitest'
import { programIn } from '../kit/processes/npm-packages.ts'
import { allOf, clientOf, eras, served } from './kit.ts'
import type { Members } from './raw-upstream.ts'

const command = programIn('referee-servers', 'mcp-budget-allocator-server')
const args = ['--stdio']
const patienceMs = 60_000

/** What a host with apps reads: the tools, and the page that the first one names. */
async function readApp(client: Client): Promise<{ readonly tools: unknown; readonly page: unknown }> {
  const tools: readonly Members[] = await allOf(client.tools())
  const meta = tools[0]?.['_meta'] as { readonly ui: { readonly resourceUri: string } } | undefined
  const resourceUri = meta?.ui.resourceUri
  expect(resourceUri).toMatch(/^ui:\/\//)
  const { contents } = await client.request('resources/read', { uri: resourceUri })
  return { tools, page: contents }
}

const budget = (prefix?: string): Gateway =>
  gateway({
    ...{ name: 'team', version: '1.0.0', startMs: patienceMs },
    upstreams: [
      upstream({
        ...{ name: 'budget', command, args, scope: 'shared', startMs: patienceMs, discoverMs: patienceMs },
        ...(prefix !== undefined && { prefix }),
      }),
    ],
  })

test('the endpoint of an upstream, and the endpoint for all without a prefix, keep pages and tools whole', async () => {
  const direct = await connect(stdioTransport({ command, args }))
  onTestFinished(() => direct.close())
  const expected = await readApp(direct)
  expect(expected.page).toMatchObject([
    { mimeType: 'text/html;profile=mcp-app', text: expect.stringMatching(/<html/i) },
  ])
  const team = budget('')
  for (const definition of [team, team.endpoints['budget'] as ServerDefinition]) {
    const url = await served(definition)
    for (const revision of eras) expect(await readApp(await clientOf(url, { revision }))).toEqual(expected)
  }
})

test('a tool whose name is changed names no page, because the page would call tools by their own names', async () => {
  const client = await clientOf(await served(budget()))
  const [tool]: readonly Members[] = await allOf(client.tools())
  expect(tool?.['name']).toBe('budget_get-budget-data')
  expect(JSON.stringify(tool?.['_meta'] ?? {})).not.toContain('ui://')
  expect(await client.callTool('budget_get-budget-data')).toHaveProperty('structuredContent.config.currency', 'USD')
})
