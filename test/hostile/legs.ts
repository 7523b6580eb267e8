/** Every way bytes can reach the core, behind one question: what is this answered with? A new transport is one more row. */

import { isUtf8 } from 'node:buffer'
import type { Params, Server, Via } from 'sluice'
import { RpcError } from 'sluice'
import { sessions, toFetch } from 'sluice/fetch'
import { serveHttp } from 'sluice/node'
import { frame, Unsound } from '../../packages/sluice/src/core/frame.ts'
import { isOneWay } from '../../packages/sluice/src/protocol/classify.ts'
import { headersFor, modern } from './messages.ts'
import { pipeTo } from './pipe.ts'
import { rawHttp } from './raw-http.ts'

export interface Reply {
  /** The answer as text; `undefined` for silence. */
  readonly text: string | undefined
  /** Where the transport has one. */
  readonly status?: number
}

export interface Leg {
  /** The bytes as one whole message. `like` is the message they were made from: a client's headers come from it. */
  send(bytes: Buffer, like?: Params): Promise<Reply>
  close(): Promise<void>
}

export interface LegKind {
  readonly name: string
  /** Whether a newline ends a message, and an empty one is none. */
  readonly lines: boolean
  open(server: Server): Promise<Leg>
}

const openText = async (server: Server): Promise<Leg> => {
  const via: Via = { transport: 'memory', peer: 'test', header: () => undefined }
  return {
    async send(bytes) {
      try {
        if (!isUtf8(bytes)) throw new RpcError('parseError', 'Parse error: not UTF-8')
        return { text: (await server.text(frame(bytes.toString('utf8')), { via })) ?? undefined }
      } catch (thrown) {
        const value = thrown instanceof Unsound ? thrown.value : undefined
        const text = server.refuse(thrown, via, value)
        return { text: isOneWay(value) ? undefined : text }
      }
    },
    close: async () => server.close(),
  }
}

const modernHeaders = (like: Params | undefined): { readonly [name: string]: string } =>
  typeof like?.['method'] === 'string' ? headersFor(like) : { 'mcp-protocol-version': modern }

const openHttp = async (server: Server): Promise<Leg> => {
  const serving = await serveHttp(server, { port: 0 })
  const { port } = new URL(serving.url)
  let client = await rawHttp(Number(port))
  return {
    async send(bytes, like) {
      if (client.socket.destroyed) client = await rawHttp(Number(port))
      const { status, body, headers } = await client.post(bytes, modernHeaders(like))
      if (headers.get('connection') === 'close') client.destroy()
      return { status, text: body === '' ? undefined : body }
    },
    async close() {
      client.destroy()
      await serving.close()
    },
  }
}

const openFetch = async (server: Server): Promise<Leg> => {
  const handler = toFetch(server, { sessions: sessions() })
  return {
    async send(bytes, like) {
      const headers = { 'content-type': 'application/json', ...modernHeaders(like) }
      const response = await handler(
        new Request('http://localhost/mcp', { method: 'POST', headers, body: new Uint8Array(bytes) }),
      )
      const body = await response.text()
      return { status: response.status, text: body === '' ? undefined : body }
    },
    async close() {
      handler.close()
      server.close()
    },
  }
}

const openStdio = async (server: Server): Promise<Leg> => {
  const pipe = pipeTo(server)
  return {
    async send(bytes) {
      pipe.write(Buffer.concat([bytes, Buffer.from('\n')]))
      const heard = await pipe.settled()
      if (heard.length > 1) throw new Error(`Answered ${heard.length} times: ${JSON.stringify(heard)}`)
      return { text: heard[0] && JSON.stringify(heard[0]) }
    },
    async close() {
      pipe.end()
      await pipe.serving.closed
    },
  }
}

export const legKinds: readonly LegKind[] = [
  { name: 'text', lines: false, open: openText },
  { name: 'http', lines: false, open: openHttp },
  { name: 'fetch', lines: false, open: openFetch },
  { name: 'stdio', lines: true, open: openStdio },
]
