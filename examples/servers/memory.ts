/** The memory server in your own program, with its identities and tenants. */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { open } from '@sluice/memory'
import { apiKeys, authenticate, memoryStore, tenants } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createServer, nodeClock, serveHttp, stderrLogger } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { testClient } from 'sluice/testing'

const folder = mkdtempSync(join(tmpdir(), 'example-memory-'))
const port = 0
const store = memoryStore()
const keys = apiKeys(store)

const memory = await open({ folder, env: process.env, clock: nodeClock, logger: stderrLogger() })
const server = createServer(memory.definition, {
  store,
  use: [
    ...(memory.layers ?? []).map(customLayer),
    authenticate({ verifiers: [keys] }),
    tenants({ claim: 'tenants' }),
    createApprovals({ store }),
  ],
})
const serving = await serveHttp(server, { port, maxBodyBytes: memory.maxMessageBytes ?? 1_000_000 })

const { secret } = await keys.create({ subject: 'ann', tenants: ['acme'] })
const client = await testClient(server, { headers: { authorization: `Bearer ${secret}` } })
await client.call('add_memory', { text: 'The kettle whistles' })
assert.match(JSON.stringify(await client.call('search_memory', { query: 'kettle' })), /whistles/)
assert.equal((await fetch(serving.url, { method: 'POST' })).ok, false)

client.close()
await serving.close()
await memory.close()
rmSync(folder, { recursive: true, force: true })
