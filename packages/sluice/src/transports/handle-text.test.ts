import { expect, test } from 'vitest'
import { defineServer } from '../protocol/definition.ts'
import { tool } from '../protocol/tools.ts'
import { createServer } from '../server.ts'
import { handleText } from './handle-text.ts'

const ran: string[] = []
const server = createServer(
  defineServer({
    name: 'text',
    version: '1.0.0',
    tools: [tool({ name: 'note', description: 'Notes that it ran', run: () => `ran ${ran.push('x')}` })],
  }),
)
const answerTo = async (text: string): Promise<unknown> => {
  const answer = await handleText(server, text)
  return answer === null ? null : JSON.parse(answer)
}

test('a text is answered with the text of the response, under its id', async () => {
  expect(await answerTo('{"jsonrpc":"2.0","id":7,"method":"ping"}')).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
})

test('a text that is not JSON, or has a duplicate name, is refused as on every transport', async () => {
  expect(await answerTo('{"jsonrpc"')).toMatchObject({ error: { code: -32700 } })
  const twice = '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"note"}}'
  expect(await answerTo(twice)).toMatchObject({ error: { code: -32600 } })
  expect(ran).toEqual([])
})

test('a notification is not answered, not even one that is refused', async () => {
  expect(await answerTo('{"jsonrpc":"2.0","method":"notifications/initialized"}')).toBeNull()
  expect(await answerTo('{"jsonrpc":"2.0","method":"notifications/x","params":{"n":12345678901234567890}}')).toBeNull()
})

test('a message may be adapted before it is served', async () => {
  const adapt = (message: unknown): unknown => ({ ...Object(message), jsonrpc: '2.0', id: 1 })
  expect(await handleText(server, '{"method":"ping"}', { adapt })).toContain('"result":{}')
})
