/**
 * Every path of bytes into the core, behind one question: what is the answer? A new transport is one more row;
 * `http-entry-points.test.ts` fails if the package exports a transport without one.
 */

import { isUtf8 } from 'node:buffer'
import type { Params, Server, Via } from 'sluice'
import { RpcError } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import { sessions, toFetch } from 'sluice/fetch'
import { frame, UnsafeMessage } from '../../../packages/sluice/src/core/frame.ts'
import { isOneWay } from '../../../packages/sluice/src/protocol/classify.ts'
import type { DeployedServer, Deployment } from '../servers/deployments.ts'
import { deployments } from '../servers/deployments.ts'
import { serveEdgeSockets } from '../servers/edge-websockets.fixture.ts'
import { pipeTo } from './in-process-stdio.client.ts'
import { rawHttp, toPost } from './raw-http.client.ts'
import { openEventStream, openSocket } from './streaming.client.ts'
import { headersFor, modern, request } from './valid-messages.ts'

export interface Reply {
  /** The answer as text; `undefined` if there is none. */
  readonly text: string | undefined
  /** The HTTP status, if the transport has one. */
  readonly status?: number
  /** The code with which a socket was closed instead of an answer. */
  readonly closed?: number
}

export interface MessagePath {
  /** Sends the bytes as one whole message. `like` is the message they were made from, for the client's headers. */
  send(bytes: Buffer, like?: Params): Promise<Reply>
  close(): Promise<void>
}

export interface MessagePathKind {
  readonly name: string
  /** The entry of the package that provides it. */
  readonly entry: string
  /** Whether a newline ends a message, and an empty line is ignored. */
  readonly lineDelimited: boolean
  open(server: Server): Promise<MessagePath>
}

const openText = async (server: Server): Promise<MessagePath> => {
  const via: Via = { transport: 'memory', peer: 'test', header: () => undefined }
  return {
    async send(bytes) {
      try {
        if (!isUtf8(bytes)) throw new RpcError('parseError', 'Parse error: not UTF-8')
        return {
          text: (await toTransportServer(server).handleText(frame(bytes.toString('utf8')), { via })) ?? undefined,
        }
      } catch (thrown) {
        const value = thrown instanceof UnsafeMessage ? thrown.value : undefined
        const text = toTransportServer(server).reject(thrown, via, value)
        return { text: isOneWay(value) ? undefined : text }
      }
    },
    close: async () => server.close(),
  }
}

const modernHeaders = (like: Params | undefined): { readonly [name: string]: string } =>
  typeof like?.['method'] === 'string' ? headersFor(like) : { 'mcp-protocol-version': modern }

const overHttp = async ({ port, endpoint, close }: DeployedServer): Promise<MessagePath> => {
  let client = await rawHttp(port)
  return {
    async send(bytes, like) {
      if (client.socket.destroyed) client = await rawHttp(port)
      client.write(toPost(port, bytes, modernHeaders(like), endpoint))
      const { status, body, headers } = await client.next()
      if (headers.get('connection') === 'close') client.destroy()
      return { status, text: body === '' ? undefined : body }
    },
    async close() {
      client.destroy()
      await close()
    },
  }
}

const openFetch = async (server: Server): Promise<MessagePath> => {
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
      await handler.close()
      await server.close()
    },
  }
}

const openStdio = async (server: Server): Promise<MessagePath> => {
  const pipe = pipeTo(server)
  return {
    async send(bytes) {
      pipe.write(Buffer.concat([bytes, Buffer.from('\n')]))
      const received = await pipe.settled()
      if (received.length > 1) throw new Error(`Answered ${received.length} times: ${JSON.stringify(received)}`)
      return { text: received[0] && JSON.stringify(received[0]) }
    },
    async close() {
      pipe.end()
      await pipe.serving.closed
    },
  }
}

/** Returns the messages of a shared stream once nothing is in flight any more. */
async function settled(
  send: (message: Params) => Promise<void>,
  received: { next(): Promise<Params> },
): Promise<string | undefined> {
  const id = `barrier ${++barriers}`
  await send(request(id, 'tools/call', { name: 'barrier', arguments: {} }))
  const answers: Params[] = []
  for (;;) {
    const message = await received.next()
    if (message['id'] === id) break
    answers.push(message)
  }
  if (answers.length > 1) throw new Error(`Answered ${answers.length} times: ${JSON.stringify(answers)}`)
  return answers[0] && JSON.stringify(answers[0])
}
let barriers = 0

const overEvents = async ({ port, base, close }: DeployedServer): Promise<MessagePath> => {
  const origin = `http://127.0.0.1:${port}`
  const stream = await openEventStream(`${origin}${base}/sse`)
  const endpoint = origin + (await stream.endpoint)
  const post = (bytes: Buffer | string, headers: { readonly [name: string]: string }): Promise<Response> =>
    fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: new Uint8Array(Buffer.from(bytes as string)),
    })
  return {
    async send(bytes, like) {
      const response = await post(bytes, modernHeaders(like))
      const body = await response.text()
      if (response.status !== 202) return { status: response.status, text: body }
      return {
        text: await settled(async (message) => {
          await post(JSON.stringify(message), {})
        }, stream),
      }
    },
    async close() {
      stream.close()
      await close()
    },
  }
}

/** Text frames only: invalid bytes close the socket, and the next message opens a new one. */
const overSocket = async (url: string, close: () => Promise<void>): Promise<MessagePath> => {
  let socket = await openSocket(url)
  return {
    async send(bytes) {
      if (socket.ws.readyState !== socket.ws.OPEN) socket = await openSocket(url)
      socket.ws.send(bytes, { binary: false })
      const text = settled(async (message) => socket.ws.send(JSON.stringify(message)), socket)
      return Promise.race([text.then((said) => ({ text: said })), socket.closed])
    },
    async close() {
      socket.ws.terminate()
      await close()
    },
  }
}
const openSocketAt = (open: Deployment['open']) => async (server: Server) => {
  const { port, base, close } = await open(server)
  return overSocket(`ws://127.0.0.1:${port}${base}/ws`, close)
}
const openEdgeSocket = async (server: Server): Promise<MessagePath> => {
  const { port, close } = await serveEdgeSockets(server)
  return overSocket(`ws://127.0.0.1:${port}/ws`, close)
}

/** Every entry point of every deployment. */
const deployedPaths: readonly MessagePathKind[] = deployments.flatMap(({ nameOf, entry, node, open }) => [
  { name: nameOf('http'), entry, lineDelimited: false, open: async (server) => overHttp(await open(server)) },
  {
    name: nameOf('http+sse'),
    entry: './sse',
    lineDelimited: false,
    open: async (server) => overEvents(await open(server)),
  },
  ...(node
    ? [{ name: nameOf('websocket'), entry: './websocket', lineDelimited: false, open: openSocketAt(open) }]
    : []),
])

export const messagePaths: readonly MessagePathKind[] = [
  { name: 'text', entry: '.', lineDelimited: false, open: openText },
  { name: 'stdio', entry: './node', lineDelimited: true, open: openStdio },
  { name: 'fetch', entry: './fetch', lineDelimited: false, open: openFetch },
  { name: 'websocket on the edge', entry: './websocket-edge', lineDelimited: false, open: openEdgeSocket },
  ...deployedPaths,
]
