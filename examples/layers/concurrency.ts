/**
 * Two running calls per tenant and one in the queue: the fourth is refused with a time to retry, the first three are
 * served.
 */

import assert from 'node:assert/strict'
import { concurrency, defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'

const { promise: opened, resolve: open } = Promise.withResolvers<void>()
const wait = tool({
  name: 'wait',
  description: 'Takes a while',
  async run() {
    await opened
    return 'done'
  },
})
const server = createServer(defineServer({ name: 'slow', version: '1.0.0', tools: [wait] }), {
  use: [concurrency({ perTenant: 2, queue: 1 })],
})

const client = await testClient(server)
const three = [client.call('wait'), client.call('wait'), client.call('wait')]
const fourth = await client.send('tools/call', { name: 'wait' })
assert.partialDeepStrictEqual(fourth, { error: { data: { reason: 'rateLimited', retryAfterMs: 1000 } } })
open()
for (const result of await Promise.all(three)) assert.partialDeepStrictEqual(result, { content: [{ text: 'done' }] })
