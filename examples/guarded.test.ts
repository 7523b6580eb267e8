import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiKeys } from 'sluice'
import { sqliteStore } from 'sluice/sqlite'
import { expect, test, vi } from 'vitest'
import { serveGuarded } from './guarded.ts'

const message = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'shout',
    arguments: { text: 'hello' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

test('a guarded server accepts callers with a key, tells the others where to get a token, and counts both', {
  timeout: 90_000,
}, async () => {
  const database = join(mkdtempSync(join(tmpdir(), 'sluice-')), 'server.db')
  const store = sqliteStore(database)
  const { secret } = await apiKeys(store).create({ subject: 'ann', tenants: ['acme'] })
  await store.close()
  const port = 20_000 + (process.pid % 20_000)
  const resource = `http://127.0.0.1:${port}/mcp`
  const serving = await serveGuarded({ resource, issuer: 'http://127.0.0.1:1', database, port })
  const post = (headers: { [name: string]: string }): Promise<Response> =>
    fetch(resource, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'shout',
        ...headers,
      },
      body: JSON.stringify(message),
    })
  // Admission control refuses requests on an overloaded machine, so the test retries as clients do.
  await vi.waitFor(
    async () =>
      expect(await (await post({ authorization: `Bearer ${secret}` })).json()).toMatchObject({
        result: { content: [{ text: 'HELLO' }] },
      }),
    { timeout: 25_000 },
  )
  const stranger = await vi.waitFor(
    async () => {
      const refused = await post({})
      expect(refused.status).toBe(401)
      return refused
    },
    { timeout: 25_000 },
  )
  expect(stranger.headers.get('www-authenticate')).toContain('/.well-known/oauth-protected-resource/mcp')
  expect(await (await fetch(new URL('/metrics', resource))).text()).toContain('shout')
  expect((await fetch(new URL('/readyz', resource))).status).toBe(200)
  await serving.close()
})
