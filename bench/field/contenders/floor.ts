/** The floor: the tools behind a bare `node:http` server, without checks or protocol. */
import { createServer } from 'node:http'
import { listen } from '../../contenders/served.ts'
import { createTools } from '../tools.ts'

interface Message {
  readonly id?: number
  readonly method: string
  readonly params: { readonly name: string; readonly arguments: Record<string, unknown> }
}

const tools = await createTools()
const runs = new Map(tools.map(({ name, run }) => [name, run]))
const list = { tools: tools.map(({ name, description }) => ({ name, description })) }
const opened = { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'shop', version: '1.0.0' } }

async function answer({ id, method, params }: Message): Promise<string> {
  const result = method === 'initialize' ? opened : method === 'tools/list' ? list : await call(params)
  return JSON.stringify({ jsonrpc: '2.0', id, result })
}
async function call({ name, arguments: args }: Message['params']): Promise<object> {
  return { content: [{ type: 'text', text: await runs.get(name)?.(args) }] }
}

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const message = JSON.parse(Buffer.concat(chunks).toString()) as Message
      if (message.id === undefined) {
        response.writeHead(202).end()
        return
      }
      answer(message).then(
        (body) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
          response.end(body)
        },
        () => response.destroy(),
      )
    })
  }),
)
