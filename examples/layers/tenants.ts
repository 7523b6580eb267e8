/** Two tenants on one server: the same tool and the same key in the store, and neither finds the other's data. */

import assert from 'node:assert/strict'
import { apiKeys, authenticate, defineServer, memoryStore, tenants, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'

const note = tool({
  name: 'note',
  description: 'Returns the previous note, and stores a new one',
  async run(_, { call, store }) {
    const before = await store.get(['note'])
    await store.set(['note'], `of ${call.tenant.id}`)
    return before ?? 'nothing'
  },
})

const store = memoryStore()
const keys = apiKeys(store)
const server = createServer(defineServer({ name: 'notes', version: '1.0.0', tools: [note] }), {
  store,
  use: [authenticate({ verifiers: [keys] }), tenants({ claim: 'tenants' })],
})

const { secret } = await keys.create({ subject: 'ann', tenants: ['acme', 'globex'] })
const as = (chosen: string) =>
  testClient(server, { headers: { authorization: `Bearer ${secret}`, 'x-tenant': chosen } })

assert.partialDeepStrictEqual(await (await as('acme')).call('note'), { content: [{ text: 'nothing' }] })
assert.partialDeepStrictEqual(await (await as('globex')).call('note'), { content: [{ text: 'nothing' }] })
assert.partialDeepStrictEqual(await (await as('acme')).call('note'), { content: [{ text: 'of acme' }] })
const foreign = await (await as('initech')).send('tools/call', { name: 'note' })
assert.partialDeepStrictEqual(foreign, { error: { data: { reason: 'forbidden' } } })
