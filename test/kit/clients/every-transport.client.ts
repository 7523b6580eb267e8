/** Every transport behind one interface: a batch of messages in, every received text out. */

import { once } from 'node:events'
import { request as requestHttp } from 'node:http'
import type { Params, Server, Via } from 'sluice'
import { sessions, toFetch } from 'sluice/fetch'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import type { BunSocket } from 'sluice/websocket-edge'
import { bunSockets, websocket as edgeWebsocket } from 'sluice/websocket-edge'
import { WebSocket } from 'ws'
import { connect } from '../../../packages/sluice/src/protocol/connect.ts'
import { notes } from '../servers/two-tenants.fixture.ts'
import { pipeTo } from './in-process-stdio.client.ts'
import type { RawHttp } from './raw-http.client.ts'
import { rawHttp, toPost } from './raw-http.client.ts'
import { headersFor, initialize, modern, modernRequest, request } from './valid-messages.ts'

/** One client of one tenant. */
export interface TransportClient {
  /** Builds a request in this client's revision. */
  readonly toRequest: typeof request
  /** Sends all messages at once; resolves when each has its answer. */
  sendAll(messages: readonly Params[]): Promise<readonly Params[]>
  /** Starts the subscription, on transports where it is a separate call that never ends. */
  subscribe?(): Promise<void>
  /** Returns the unsolicited messages since the last call. */
  takeNotifications(): readonly Params[]
  close(): void
}
export interface ClientKind {
  readonly name: string
  /** Sends the token as a header, or as `params.token` on transports without headers. */
  open(token: string): Promise<TransportClient>
}
/** A server and all its transports. */
export interface EveryTransport {
  readonly clients: readonly ClientKind[]
  close(): Promise<void>
}

const legacy = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const
const accept = 'application/json, text/event-stream'
const listening = modernRequest('listening', 'subscriptions/listen', {
  notifications: { resourceSubscriptions: notes },
})
type Headers = { readonly [name: string]: string }

export async function openEveryTransport(server: Server): Promise<EveryTransport> {
  const serving = await serveHttp(server, { port: 0, sse: sse(), websocket: websocket() })
  // Clients wait for each other between batches, on a busy machine longer than an idle connection stays open.
  Object.assign(serving.server, { keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 })
  const port = Number(new URL(serving.url).port)
  const edge = toFetch(server, { sessions: sessions(), websocket: edgeWebsocket() })
  return {
    clients: [
      { name: 'http, stateless', open: (token) => overHttp(port, token) },
      ...legacy.map((revision) => ({
        name: `http, session of ${revision}`,
        open: (token: string) => inSession(port, token, revision),
      })),
      { name: 'http+sse', open: (token) => overSse(port, token) },
      { name: 'fetch', open: (token) => overFetch(edge, token) },
      ...[...legacy, modern].map((revision) => ({
        name: `websocket, ${revision}`,
        open: (token: string) => overSocket(port, token, revision),
      })),
      { name: 'fetch, websocket', open: (token) => overEdgeSocket(edge, token) },
      ...[...legacy, modern].map((revision) => ({
        name: `stdio, ${revision}`,
        open: (token: string) => overPipe(server, token, revision),
      })),
      ...[...legacy, modern].map((revision) => ({
        name: `handle, ${revision}`,
        open: (token: string) => inMemory(server, token, revision),
      })),
    ],
    async close() {
      await edge.close()
      await serving.close()
    },
  }
}

/** Reads a body: one answer, a batch of answers, or events with either. */
function messagesIn(body: string): readonly Params[] {
  const isJson = body.startsWith('{') || body.startsWith('[')
  const texts = isJson ? [body] : [...body.matchAll(/^data: (.+)$/gm)].map(([, data = '']) => data)
  return texts.flatMap((text): Params | readonly Params[] => JSON.parse(text))
}

async function overHttp(port: number, token: string): Promise<TransportClient> {
  const http = await rawHttp(port)
  const authorization = `Bearer ${token}`
  const inbox = createInbox()
  let leave = (): void => {}
  return {
    toRequest: modernRequest,
    async subscribe() {
      const headers = { authorization, 'content-type': 'application/json', ...headersFor(listening) }
      leave = await openStream({ port, headers, body: JSON.stringify(listening) }, (data) =>
        inbox.put(JSON.parse(data)),
      )
    },
    sendAll: (messages) =>
      pipelined(
        http,
        messages.map((message) => [JSON.stringify(message), { authorization, ...headersFor(message) }]),
      ),
    takeNotifications: inbox.unasked,
    close() {
      http.destroy()
      leave()
    },
  }
}

async function pipelined(http: RawHttp, posts: readonly (readonly [string, Headers])[]): Promise<readonly Params[]> {
  http.write(Buffer.concat(posts.map(([body, headers]) => toPost(http.port, body, headers))))
  const heard: Params[] = []
  for (const _ of posts) heard.push(...messagesIn((await http.next()).body))
  return heard
}

/** The messages of a stream that all calls of a client share: answers to the current batch, and unsolicited ones. */
function createInbox() {
  let open = new Set<unknown>()
  let [answers, unasked]: [Params[], Params[]] = [[], []]
  let whole = (): void => {}
  return {
    put(message: Params): void {
      if (typeof message['method'] === 'string' && /list_changed$|updated$|acknowledged$/.test(message['method'])) {
        unasked.push(message)
        return
      }
      answers.push(message)
      if (!('method' in message)) open.delete(message['id'])
      if (open.size === 0) whole()
    },
    async heap(messages: readonly Params[], send: () => unknown): Promise<readonly Params[]> {
      open = new Set(messages.map(({ id }) => id))
      const done = new Promise<void>((resolve) => {
        whole = resolve
      })
      await send()
      await done
      const all = answers
      answers = []
      return all
    },
    unasked(): readonly Params[] {
      const all = unasked
      unasked = []
      return all
    },
  }
}

/** Resolves when the stream is open; `onData` gets the data of each event. */
function openStream(
  { port, path = '/mcp', headers, body }: { port: number; path?: string; headers: Headers; body?: string },
  onData: (data: string) => void,
): Promise<() => void> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', path, method: body === undefined ? 'GET' : 'POST' }
    const asked = requestHttp({ ...options, headers: { accept, ...headers } })
    asked.end(body)
    asked.on('error', reject)
    asked.on('response', (response) => {
      let rest = ''
      response.setEncoding('utf8')
      response.on('error', () => {})
      response.on('data', (text: string) => {
        const events = (rest + text).split('\n\n')
        rest = events.pop() ?? ''
        for (const event of events) {
          const data = /^data: (.+)$/m.exec(event)?.[1]
          if (data !== undefined) onData(data)
        }
      })
      resolve(() => asked.destroy())
    })
  })
}

async function inSession(port: number, token: string, revision: string): Promise<TransportClient> {
  const http = await rawHttp(port)
  const signed = { authorization: `Bearer ${token}` }
  const opened = await http.post(JSON.stringify(initialize(revision)), signed)
  const named = { ...signed, 'mcp-session-id': String(opened.headers.get('mcp-session-id')) }
  const headers = revision >= '2025-06-18' ? { ...named, 'mcp-protocol-version': revision } : named
  const inbox = createInbox()
  const leave = await openStream({ port, headers }, (data) => inbox.put(JSON.parse(data)))
  /** Only one revision has batches. */
  const bodiesOf = (messages: readonly Params[]): readonly string[] =>
    revision === '2025-03-26' ? [JSON.stringify(messages)] : messages.map((message) => JSON.stringify(message))
  return {
    toRequest: request,
    sendAll: (messages) =>
      pipelined(
        http,
        bodiesOf(messages).map((body) => [body, headers]),
      ),
    takeNotifications: inbox.unasked,
    close() {
      http.destroy()
      leave()
    },
  }
}

async function overSse(port: number, token: string): Promise<TransportClient> {
  const http = await rawHttp(port)
  const signed = { authorization: `Bearer ${token}` }
  const inbox = createInbox()
  const endpoint = Promise.withResolvers<string>()
  const leave = await openStream({ port, path: '/sse', headers: signed }, (data) =>
    data.startsWith('{') ? inbox.put(JSON.parse(data)) : endpoint.resolve(data),
  )
  const path = await endpoint.promise
  const heap = (messages: readonly Params[]): Promise<readonly Params[]> =>
    inbox.heap(messages, async () => {
      http.write(Buffer.concat(messages.map((message) => toPost(port, JSON.stringify(message), signed, path))))
      for (const _ of messages) await http.next()
    })
  await heap([initialize('2024-11-05')])
  return {
    toRequest: request,
    sendAll: heap,
    takeNotifications: inbox.unasked,
    close() {
      http.destroy()
      leave()
    },
  }
}

async function overFetch(edge: ReturnType<typeof toFetch>, token: string): Promise<TransportClient> {
  const authorization = `Bearer ${token}`
  const ask = (message: Params): Promise<Response> => {
    const headers = { authorization, 'content-type': 'application/json', accept, ...headersFor(message) }
    return edge(new Request('http://localhost/mcp', { method: 'POST', headers, body: JSON.stringify(message) }))
  }
  const inbox = createInbox()
  const stopped = new AbortController()
  return {
    toRequest: modernRequest,
    sendAll: async (messages) =>
      (await Promise.all(messages.map(async (message) => messagesIn(await (await ask(message)).text())))).flat(),
    async subscribe() {
      const { body } = await ask(listening)
      const reading = body?.pipeThrough(new TextDecoderStream()).pipeTo(
        new WritableStream({
          write(text) {
            for (const message of messagesIn(text)) inbox.put(message)
          },
        }),
        stopped,
      )
      reading?.catch(() => {})
    },
    takeNotifications: inbox.unasked,
    close: () => stopped.abort(),
  }
}

async function overSocket(port: number, token: string, revision: string): Promise<TransportClient> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/ws`, 'mcp', { headers: { authorization: `Bearer ${token}` } })
  const inbox = createInbox()
  socket.on('message', (data: Buffer) => inbox.put(JSON.parse(data.toString())))
  await once(socket, 'open')
  return onSocket({
    inbox,
    revision,
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.terminate(),
  })
}

/** Uses the socket of Bun, the only one of the three runtimes' forms that needs nothing of the runtime. */
async function overEdgeSocket(edge: ReturnType<typeof toFetch>, token: string): Promise<TransportClient> {
  const inbox = createInbox()
  const begun = Promise.withResolvers<BunSocket>()
  const beside = {
    upgrade(_: Request, { data }: { data: BunSocket['data'] }) {
      begun.resolve({
        data,
        send(text) {
          inbox.put(JSON.parse(text))
          return text.length
        },
        close() {},
        terminate() {},
        ping: () => 0,
        getBufferedAmount: () => 0,
      })
      return true
    },
  }
  const headers = { authorization: `Bearer ${token}`, upgrade: 'websocket', 'sec-websocket-version': '13' }
  const upgrade = new Request('http://localhost/ws', { headers: { ...headers, 'sec-websocket-protocol': 'mcp' } })
  edge(upgrade, beside).catch(begun.reject)
  const socket = await begun.promise
  bunSockets.open(socket)
  return onSocket({
    inbox,
    revision: modern,
    send: (message) => bunSockets.message(socket, JSON.stringify(message)),
    close: () => bunSockets.close(socket),
  })
}

interface SocketClient {
  readonly inbox: ReturnType<typeof createInbox>
  readonly revision: string
  send(message: Params): void
  close(): void
}
async function onSocket({ inbox, revision, send, close }: SocketClient): Promise<TransportClient> {
  const heap = (messages: readonly Params[]): Promise<readonly Params[]> =>
    inbox.heap(messages, () => {
      for (const message of messages) send(message)
    })
  const { unasked } = inbox
  if (revision === modern)
    return {
      toRequest: modernRequest,
      sendAll: heap,
      subscribe: async () => send(listening),
      takeNotifications: unasked,
      close,
    }
  await heap([initialize(revision)])
  return { toRequest: request, sendAll: heap, takeNotifications: unasked, close }
}

async function overPipe(server: Server, token: string, revision: string): Promise<TransportClient> {
  const pipe = pipeTo(server)
  const inbox = createInbox()
  const withToken = ({ params, ...message }: Params): Params => ({
    ...message,
    params: { ...(params as Params), token },
  })
  const read = async (): Promise<never> => {
    for (;;) inbox.put(await pipe.next())
  }
  // The pipe has closed, so pending calls fail by themselves.
  read().catch(() => {})
  const heap = (messages: readonly Params[]): Promise<readonly Params[]> =>
    inbox.heap(messages, () => {
      for (const message of messages) pipe.send(withToken(message))
    })
  const { unasked } = inbox
  if (revision === modern) {
    const listen = async (): Promise<void> => pipe.send(withToken(listening))
    return { toRequest: modernRequest, sendAll: heap, subscribe: listen, takeNotifications: unasked, close: pipe.end }
  }
  await heap([initialize(revision)])
  return { toRequest: request, sendAll: heap, takeNotifications: unasked, close: pipe.end }
}

async function inMemory(server: Server, token: string, revision: string): Promise<TransportClient> {
  const inbox = createInbox()
  const send = (message: object): void => inbox.put({ ...message })
  const connection = revision === modern ? undefined : connect(server, { send })
  const header = (name: string): string | undefined => (name === 'authorization' ? `Bearer ${token}` : undefined)
  const via: Via = { transport: 'memory', peer: 'test', header, ...(connection && { connection }) }
  const heap = (messages: readonly Params[]): Promise<readonly Params[]> =>
    inbox.heap(messages, () =>
      Promise.all(messages.map(async (message) => send((await server.handle(message, { via, send })) ?? {}))),
    )
  const { unasked } = inbox
  if (connection) {
    await heap([initialize(revision)])
    return { toRequest: request, sendAll: heap, takeNotifications: unasked, close: () => connection.close() }
  }
  const stop = new AbortController()
  const listen = async (): Promise<void> => {
    // Never rejects; it settles when the client stops it.
    server.handle(listening, { via, send, signal: stop.signal }).catch(() => {})
  }
  return {
    toRequest: modernRequest,
    sendAll: heap,
    subscribe: listen,
    takeNotifications: unasked,
    close: () => stop.abort(),
  }
}
