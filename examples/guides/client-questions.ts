import assert from 'node:assert/strict'
import { ask, defineServer, tool } from 'sluice'
import { connect, httpTransport, ServerError } from 'sluice/client'
import { serveHttp } from 'sluice/node'
import { z } from 'zod'

const greet = tool({
  name: 'greet',
  description: 'Greets the user by name',
  ask: () => ({ who: ask.form('Who are you?', z.object({ name: z.string() })) }),
  run: (_input, { answers }) => `Hello ${answers.who.name}`,
})
const serving = await serveHttp(defineServer({ name: 'greeter', version: '1', tools: [greet] }), { port: 0 })

const client = await connect(httpTransport(serving.url), {
  handlers: { form: () => ({ action: 'accept', content: { name: 'Ada' } }) },
})
const { content } = await client.callTool('greet')
assert.deepEqual(content, [{ type: 'text', text: 'Hello Ada' }])

await assert.rejects(client.callTool('unknown'), (error) => error instanceof ServerError && error.code === -32602)
await client.close()
await serving.close()
