/** The floor: the minimum that `node:http` needs to answer a tool call, without checks or protocol. */
import { createServer } from 'node:http'
import { listen } from '../served.ts'

interface Call {
  readonly id: number
  readonly params: { readonly arguments: { readonly text: string } }
}

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const call: Call = JSON.parse(Buffer.concat(chunks).toString())
      const content = [{ type: 'text', text: call.params.arguments.text }]
      const body = JSON.stringify({ jsonrpc: '2.0', id: call.id, result: { content } })
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  }),
)
