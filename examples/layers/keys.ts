/**
 * State that travels through a client is sealed: another process with the same secret opens it, one with another secret
 * does not.
 */

import assert from 'node:assert/strict'
import { ask, defineServer, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { elicitation } from 'sluice/plugins'
import { testClient } from 'sluice/testing'
import * as z from 'zod'

const greet = tool({
  name: 'greet',
  description: 'Asks for a name and greets',
  ask: () => ({ who: ask.form('What is your name?', z.object({ name: z.string() })) }),
  run: (_, { answers }) => `Hello ${answers.who.name}`,
})
const start = (secret: string | readonly string[]) =>
  createServer(defineServer({ name: 'greeter', version: '1.0.0', tools: [greet] }), {
    secret,
    use: [elicitation()],
  })
const capabilities = { elicitation: { form: {} } }

const [old, next] = ['the first secret, long enough', 'the second secret, long enough']
const asked = await (await testClient(start(old), { capabilities })).request('tools/call', { name: 'greet' })
const answer = {
  name: 'greet',
  requestState: asked['requestState'],
  inputResponses: { who: { action: 'accept', content: { name: 'Ann' } } },
}

// During a rotation the first secret seals and both open.
const rotating = await testClient(start([next, old]), { capabilities })
assert.partialDeepStrictEqual(await rotating.request('tools/call', answer), { content: [{ text: 'Hello Ann' }] })
const later = await testClient(start(next), { capabilities })
assert.partialDeepStrictEqual(await later.send('tools/call', answer), { error: { code: -32602 } })
