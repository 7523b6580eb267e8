/** The unmodified official clients, with a user behind them. */

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { serveHttp } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'
import type { ApprovalsFixture } from '../kit/servers/approvals.fixture.ts'
import { openApprovalsFixture, owner, requiredIn } from '../kit/servers/approvals.fixture.ts'

async function serve(): Promise<ApprovalsFixture & { url: URL; requestInit: { headers: { Authorization: string } } }> {
  const shop = await openApprovalsFixture({ url: 'https://console.example' })
  const serving = await serveHttp(shop.server, { port: 0 })
  onTestFinished(() => serving.close())
  const headers = { Authorization: `Bearer ${await shop.keyFor('ann', ['acme'])}` }
  return { ...shop, url: new URL(serving.url), requestInit: { headers } }
}

test('v2 on 2026-07-28 shows its user the page, and calls again by itself afterwards', async () => {
  const { url, requestInit, approvals, ran } = await serve()
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    {
      capabilities: { elicitation: { url: {} } },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  )
  const opened: unknown[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    opened.push(params)
    const [ticket] = (await approvals.list({ status: 'pending' })).tickets
    await approvals.decide(ticket?.id ?? '', { approved: true }, owner)
    return { action: 'accept' }
  })
  await client.connect(new HttpV2(url, { requestInit }))
  const result = await client.callTool({ name: 'pay', arguments: { amount: 7 } })
  expect(result).toMatchObject({ content: [{ type: 'text', text: 'Paid 7' }] })
  expect(opened).toMatchObject([
    { mode: 'url', url: expect.stringMatching(/^https:\/\/console\.example\/approvals\//) },
  ])
  expect(ran).toEqual([{ amount: 7, memo: 'none' }])
  await client.close()
})

test('v1 on 2025-11-25 gets a readable result, also from a tool with an output schema, and calls again', async () => {
  const { url, requestInit, approvals, ran } = await serve()
  const client = new ClientV1({ name: 'v1', version: '1' })
  await client.connect(new HttpV1(url, { requestInit }) as Transport)
  // From here on it checks results against the schemas.
  await client.listTools()
  for (const [call, text] of [
    [{ name: 'pay', arguments: { amount: 7 } }, 'Paid 7'],
    [{ name: 'count', arguments: {} }, '{"items":3}'],
  ] as const) {
    const required = requiredIn({ result: await client.callTool(call) })
    await approvals.decide(required.request_id, { approved: true }, owner)
    expect(await client.callTool(call)).toMatchObject({ content: [{ type: 'text', text }], isError: false })
  }
  expect(ran).toHaveLength(2)
  await client.close()
})
