/** The floor in process: parse the message, check the arguments with Zod, print the answer. */
import * as z from 'zod'
import { callMessage, echoText, listMessage } from '../../lib/messages.ts'
import { echoSchema, toolShapes } from '../../lib/tools.ts'
import { serveCases } from '../cases.ts'

interface Call {
  readonly id: number
  readonly params: { readonly arguments: unknown }
}

const schema = echoSchema()
const call = callMessage('2026-07-28')
const list = listMessage('2026-07-28')
const tools = toolShapes(200).map(({ name, description, schema }) => ({
  name,
  description,
  inputSchema: z.toJSONSchema(schema),
}))

await serveCases({
  call: {
    expect: echoText,
    call: () => {
      const { id, params }: Call = JSON.parse(call)
      const { text } = schema.parse(params.arguments)
      return JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }] } })
    },
  },
  'list-200': {
    expect: 'neighbour_199',
    call: () => {
      const { id }: Call = JSON.parse(list)
      return JSON.stringify({ jsonrpc: '2.0', id, result: { tools } })
    },
  },
})
