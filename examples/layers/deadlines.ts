/** A tool that hangs: its caller is answered in time, and its signal tells it to stop. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'

let stopped = false
const hang = tool({
  name: 'hang',
  description: 'Waits for something that never happens',
  timeoutMs: 50,
  async run(_, { signal }) {
    await once(signal, 'abort')
    stopped = true
    return 'too late'
  },
})
const client = await testClient(createServer(defineServer({ name: 'slow', version: '1.0.0', tools: [hang] })))

assert.partialDeepStrictEqual(await client.call('hang'), {
  isError: true,
  content: [{ text: 'No answer within 50 ms' }],
})
assert.ok(stopped)
// A client may ask for a shorter deadline, never for a longer one.
const hurried = { name: 'hang', _meta: { 'dev.sluice/deadlineMs': 10 } }
assert.partialDeepStrictEqual(await client.request('tools/call', hurried), {
  content: [{ text: 'No answer within 10 ms' }],
})
