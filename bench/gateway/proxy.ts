/** A proxy in forty lines of `node:http` that parses messages both ways and gives each a new id. It checks nothing. */
import { Agent, createServer, request as send } from 'node:http'
import { listen } from '../contenders/served.ts'
import { upstreamUrl } from './upstream-url.ts'

interface Message {
  readonly id: number
  readonly method?: string
}

const target = new URL(upstreamUrl())
const agent = new Agent({ keepAlive: true, maxSockets: 256 })
let ids = 0

listen(
  createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const message: Message = JSON.parse(Buffer.concat(chunks).toString())
      const body = JSON.stringify({ ...message, id: ++ids })
      const { host: _, 'content-length': __, ...headers } = incoming.headers
      const options = { method: 'POST', agent, headers: { ...headers, 'content-length': Buffer.byteLength(body) } }
      const outgoing = send(target, options, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (chunk: Buffer) => parts.push(chunk))
        answer.on('end', () => {
          const result: Message = JSON.parse(Buffer.concat(parts).toString())
          const text = JSON.stringify({ ...result, id: message.id })
          response.writeHead(answer.statusCode ?? 502, {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(text),
          })
          response.end(text)
        })
      })
      outgoing.on('error', () => response.writeHead(502).end())
      outgoing.end(body)
    })
  }),
)
