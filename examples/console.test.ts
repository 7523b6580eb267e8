import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openShop } from './console.ts'

test("an agent asks, a person approves over the console's API, and the call runs", async () => {
  const { mcp, consoleApp, key, close } = await openShop({
    database: join(mkdtempSync(join(tmpdir(), 'sluice-')), 'shop.db'),
  })
  const refund = async (): Promise<string> => {
    const reply = await fetch(mcp.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'refund',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name: 'refund',
          arguments: { order: 'A-1', cents: 250 },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    return reply.text()
  }
  expect(await refund()).toContain('approval_required')
  const { secret } = await consoleApp.operators.create({ name: 'olga', scopes: ['approvals:decide'] })
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const { tickets } = (await (await fetch(new URL('api/tickets', consoleApp.url), { headers })).json()) as {
    tickets: { id: string; digest: string }[]
  }
  const [ticket] = tickets
  const decided = await fetch(new URL(`api/tickets/${ticket?.id}/decision`, consoleApp.url), {
    method: 'POST',
    headers,
    body: JSON.stringify({ approved: true, digest: ticket?.digest, note: 'fine' }),
  })
  expect(decided.status).toBe(200)
  expect(await refund()).toContain('250 cents went back for A-1')
  await close()
})
