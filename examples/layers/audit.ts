/** One record before each run and one after it, in a hash chain, so that every change is detected. */

import assert from 'node:assert/strict'
import { audit, memoryStore } from 'sluice'
import { verifyAudit } from 'sluice/audit'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { hello } from '../hello.ts'

const store = memoryStore()
const server = createServer(hello, { store, use: [audit()] })
await (await testClient(server)).call('shout', { text: 'hello' })
await server.close()

const before = await verifyAudit(store, 'default')
assert.partialDeepStrictEqual(before, { intact: true, records: 2 })

const [row] = await store.list(['audit', 'rows', 'default'], { limit: 1 })
assert.ok(row)
await store.set(row.key, row.value.replace('shout', 'whisper'))
assert.partialDeepStrictEqual(await verifyAudit(store, 'default'), { intact: false, seq: 1, problem: 'altered' })
