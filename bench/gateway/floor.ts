/** The floor as an upstream: it answers calls as `contenders/floor` does, and knows enough to be discovered. */
import { createServer } from 'node:http'
import { listen } from '../contenders/served.ts'

interface Call {
  readonly id: number
  readonly method: string
  readonly params: { readonly arguments?: { readonly text: string } }
}

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const results: Record<string, object> = {
  'server/discover': { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  'tools/list': { resultType: 'complete', tools: [{ name: 'echo', description: 'Says it', inputSchema }] },
}

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { id, method, params }: Call = JSON.parse(Buffer.concat(chunks).toString())
      const result = results[method] ?? { content: [{ type: 'text', text: params.arguments?.text }] }
      const body = JSON.stringify({ jsonrpc: '2.0', id, result })
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  }),
)
