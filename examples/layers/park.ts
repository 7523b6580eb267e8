/** A tool that asks in the middle of its work. The call waits in its process, and the client holds no connection. */

import assert from 'node:assert/strict'
import { ask, defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import * as z from 'zod'

const book = tool({
  name: 'book_room',
  description: 'Books a room',
  input: z.object({ day: z.string() }),
  asksWhileRunning: true,
  async run({ day }, context) {
    const free = await Promise.resolve(['Blue', 'Green'])
    const { choice } = await context.ask({
      choice: ask.form(`On ${day} are free: ${free.join(', ')}. Which one?`, z.object({ room: z.string() })),
    })
    return `${choice.room} is booked for ${day}`
  },
})
const server = createServer(defineServer({ name: 'rooms', version: '1.0.0', tools: [book] }))

const client = await testClient(server, { capabilities: { elicitation: { form: {} } } })
const call = { name: 'book_room', arguments: { day: 'Monday' } }
const asked = await client.request('tools/call', call)
assert.equal(asked['resultType'], 'input_required')

const answered = await client.request('tools/call', {
  ...call,
  requestState: asked['requestState'],
  inputResponses: { 'choice.1': { action: 'accept', content: { room: 'Green' } } },
})
assert.partialDeepStrictEqual(answered, { content: [{ text: 'Green is booked for Monday' }] })
await server.close()
