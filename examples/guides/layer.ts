/** A custom layer: tools that write are closed during maintenance of the database. */

import assert from 'node:assert/strict'
import type { Layer } from 'sluice'
import { defineServer, RpcError, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { customLayer } from 'sluice/plugins'
import { testClient } from 'sluice/testing'

/** Reading continues; writing is refused with what to do next. */
const maintenance =
  (isOn: () => boolean): Layer =>
  (next) =>
    function maintenance(call) {
      if (isOn() && call.target.kind === 'tool' && !call.target.policy.readOnly)
        throw new RpcError('overloaded', 'The database is under maintenance; try again in a few minutes')
      return next(call)
    }

const read = tool({
  name: 'read',
  description: 'Reads',
  annotations: { readOnlyHint: true },
  run: () => 'read',
})
const write = tool({ name: 'write', description: 'Writes', run: () => 'written' })

let working = true
const server = createServer(defineServer({ name: 'records', version: '1.0.0', tools: [read, write] }), {
  use: [customLayer(maintenance(() => working))],
})

const client = await testClient(server)
assert.partialDeepStrictEqual(await client.call('read'), { content: [{ text: 'read' }] })
assert.partialDeepStrictEqual(await client.send('tools/call', { name: 'write' }), {
  error: { data: { reason: 'overloaded' } },
})
working = false
assert.partialDeepStrictEqual(await client.call('write'), { content: [{ text: 'written' }] })
