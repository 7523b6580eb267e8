/** An order sent twice is placed once: the second call gets the first one's answer. */

import assert from 'node:assert/strict'
import { defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { idempotency } from 'sluice/plugins'
import { testClient } from 'sluice/testing'
import * as z from 'zod'

let orders = 0
const order = tool({
  name: 'order',
  description: 'Orders something',
  input: z.object({ item: z.string() }),
  run: ({ item }) => `Order ${++orders}: ${item}`,
})
const client = await testClient(
  createServer(defineServer({ name: 'shop', version: '1.0.0', tools: [order] }), { use: [idempotency()] }),
)

// Over HTTP the header Idempotency-Key does the same.
const _meta = { 'dev.sluice/idempotencyKey': '5f0c1ea6-7d0b-4a43-a8dd-0c2f7c1c9e21' }
const first = await client.request('tools/call', { name: 'order', arguments: { item: 'tea' }, _meta })
const again = await client.request('tools/call', { name: 'order', arguments: { item: 'tea' }, _meta })
assert.partialDeepStrictEqual(first, { content: [{ text: 'Order 1: tea' }] })
assert.deepEqual(again['content'], first['content'])
assert.equal(orders, 1)

const other = await client.send('tools/call', { name: 'order', arguments: { item: 'coffee' }, _meta })
assert.partialDeepStrictEqual(other, { error: { data: { reason: 'conflict', state: 'other arguments' } } })
