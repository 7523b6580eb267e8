/**
 * Every HTTP entry point behind one question: is this request accepted? A new transport or mount is one more row. Every
 * case of `http-entry-points.test.ts` and `http-guard.test.ts` then runs against it too.
 */

import type { Server } from 'sluice'
import { sessions, toFetch } from 'sluice/fetch'
import type { NodeHttpOptions } from 'sluice/node'
import type { DeployedServer } from '../servers/deployments.ts'
import { deployments } from '../servers/deployments.ts'
import { serveEdgeSockets } from '../servers/edge-websockets.fixture.ts'
import type { RawHttp } from './raw-http.client.ts'
import { rawHttp, requestHead } from './raw-http.client.ts'
import type { HeaderLine } from './raw-websocket.client.ts'
import { frameOf, upgradeHeaders } from './raw-websocket.client.ts'
import { callOf, headersFor } from './valid-messages.ts'

export type { HeaderLine } from './raw-websocket.client.ts'

export type EntryPointOptions = Pick<NodeHttpOptions, 'hosts' | 'origins' | 'maxBodyBytes'>

export interface RequestOverrides {
  /** Replaces the method of the entry point. */
  readonly method?: string
  /** Replaces the call of `echo`, on entry points that take a body. */
  readonly body?: Buffer
  /** Sent with the credentials that the entry point's own session needs. */
  readonly token?: string
  /** The HTTP version. */
  readonly version?: string
  /** Appended to the path. */
  readonly query?: string
}

export interface EntryPoint {
  readonly port: number
  /**
   * Sends a call of `echo` with exactly these headers, besides those the entry point needs. Returns 200 if it was
   * accepted and the call has run, otherwise the status of the refusal.
   */
  request(headers: readonly HeaderLine[], given?: RequestOverrides): Promise<number>
  close(): Promise<void>
}

export interface EntryPointKind {
  readonly name: string
  /** The entry of the package that provides it. */
  readonly entry: string
  /** Whether it sees the raw header lines; some runtimes pass a URL and one value per name. */
  readonly seesRawHeaders: boolean
  /** Whether a request carries its message, with a media type, an encoding and a size. */
  readonly takesBody: boolean
  open(server: Server, options: EntryPointOptions): Promise<EntryPoint>
}

const call = callOf(1, 'echo', { text: 'a' })
const body = Buffer.from(JSON.stringify(call))

/** The other headers that a POST needs, except if the case is about that header. */
function postHeaders(headers: readonly HeaderLine[], bytes: Buffer): readonly HeaderLine[] {
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  const own: readonly HeaderLine[] = [
    ['content-type', 'application/json'],
    ['content-length', String(bytes.length)],
    ...Object.entries(headersFor(call)),
  ]
  return [
    ...headers.filter(([name]) => name !== 'no-content-type'),
    ...own.filter(([name]) => !given.has(name) && !given.has(`no-${name}`)),
  ]
}

async function exchange(
  port: number,
  path: string,
  headers: readonly HeaderLine[],
  given: RequestOverrides,
): Promise<RawHttp> {
  const { method = 'POST', body: bytes = body, version = 'HTTP/1.1' } = given
  const http = await rawHttp(port)
  const head = requestHead(method === 'POST' ? postHeaders(headers, bytes) : headers, {
    method,
    path: path + (given.query ?? ''),
    version,
  })
  http.write(method === 'POST' ? Buffer.concat([Buffer.from(head), bytes]) : head)
  return http
}

const postAt = (port: number, path: string) =>
  async function request(headers: readonly HeaderLine[], given: RequestOverrides = {}): Promise<number> {
    const http = await exchange(port, path, headers, given)
    const { status } = await http.next().finally(http.destroy)
    return status
  }

/** Opens the stream of HTTP+SSE with these headers, and returns the address for its messages. */
async function openSse(
  port: number,
  headers: readonly HeaderLine[],
  path: string,
): Promise<{ http: RawHttp; status: number; endpoint: string }> {
  const http = await rawHttp(port)
  http.write(requestHead([...headers, ['accept', 'text/event-stream']], { method: 'GET', path }))
  // A refusal is a complete response; a stream never is.
  const opened = await Promise.race([http.next(), http.seen(/data: \S+\n\n/)])
  if (typeof opened !== 'string') return { http, status: opened.status, endpoint: '' }
  return { http, status: 200, endpoint: /data: (\S+)/.exec(opened)?.[1] ?? '' }
}
const host = (port: number, hosts: readonly string[] | undefined): HeaderLine => [
  'host',
  hosts?.[0] ?? `127.0.0.1:${port}`,
]
const bearer = ({ token }: RequestOverrides): readonly HeaderLine[] =>
  token === undefined ? [] : [['authorization', `Bearer ${token}`]]

/** The tested request is the GET that opens the stream; messages go to the endpoint of that stream. */
const sseAt = ({ port, base }: DeployedServer, { hosts }: EntryPointOptions) =>
  async function request(headers: readonly HeaderLine[], given: RequestOverrides = {}): Promise<number> {
    if (given.method !== undefined && given.method !== 'GET') return postAt(port, `${base}/sse`)(headers, given)
    const { http, status, endpoint } = await openSse(port, headers, `${base}/sse${given.query ?? ''}`)
    try {
      if (status !== 200) return status
      const credentials = headers.filter(([name]) => name === 'authorization')
      await postAt(port, endpoint)([host(port, hosts), ...credentials])
      await http.seen(/"id":1[,}]/)
      return 200
    } finally {
      http.destroy()
    }
  }

/** The stream is opened properly; the tested request is the POST. */
const messagesAt = ({ port, base }: DeployedServer, { hosts }: EntryPointOptions) =>
  async function request(headers: readonly HeaderLine[], given: RequestOverrides = {}): Promise<number> {
    const own = await openSse(port, [host(port, hosts), ...bearer(given)], `${base}/sse`)
    try {
      const query = given.query === undefined ? '' : given.query.replace('?', '&')
      const status = await postAt(port, own.endpoint)(headers, { ...given, query })
      if (status !== 202) return status
      await own.http.seen(/"id":1[,}]/)
      return 200
    } finally {
      own.http.destroy()
    }
  }

const socketAt = (port: number, path: string) =>
  async function request(headers: readonly HeaderLine[], given: RequestOverrides = {}): Promise<number> {
    if (given.method !== undefined) return postAt(port, path)(headers, given)
    const http = await rawHttp(port)
    try {
      http.write(requestHead([...headers, ...upgradeHeaders], { method: 'GET', path: path + (given.query ?? '') }))
      const { status } = await http.next()
      if (status !== 101) return status
      http.write(frameOf(given.body ?? body))
      await http.seen(/"id":1[,}]/)
      return 200
    } finally {
      http.destroy()
    }
  }

interface RouteKind {
  readonly name: string
  /** Set if it differs from that of the deployment. */
  readonly entry?: string
  readonly takesBody: boolean
  /** Whether it needs a runtime's sockets. */
  readonly socket?: true
  requestAt(standing: DeployedServer, options: EntryPointOptions): EntryPoint['request']
}
const routeKinds: readonly RouteKind[] = [
  { name: '/mcp', takesBody: true, requestAt: ({ port, endpoint }) => postAt(port, endpoint) },
  { name: '/sse', entry: './sse', takesBody: false, requestAt: sseAt },
  { name: '/messages', entry: './sse', takesBody: true, requestAt: messagesAt },
  {
    name: '/ws',
    entry: './websocket',
    takesBody: false,
    socket: true,
    requestAt: ({ port, base }) => socketAt(port, `${base}/ws`),
  },
]

/** Each deployment with every entry point. */
const deployedEntryPoints: readonly EntryPointKind[] = deployments.flatMap(({ nameOf, entry, node, open }) =>
  routeKinds
    .filter(({ socket }) => node || !socket)
    .map(({ name, entry: own = entry, takesBody, requestAt }) => ({
      name: nameOf(name),
      entry: own,
      seesRawHeaders: node,
      takesBody,
      async open(server, options) {
        const standing = await open(server, options)
        return { port: standing.port, request: requestAt(standing, options), close: standing.close }
      },
    })),
)

const openFetch = async (server: Server, options: EntryPointOptions): Promise<EntryPoint> => {
  const handler = toFetch(server, { sessions: sessions(), ...options })
  return {
    port: 8787,
    async request(headers, { method = 'POST', body: bytes = body, query = '' } = {}) {
      const all = new Map(postHeaders(headers, bytes).map(([name, value]) => [name.toLowerCase(), value]))
      const name = all.get('host') ?? 'localhost'
      for (const own of ['host', 'content-length']) all.delete(own)
      const content = method === 'POST' ? { body: new Uint8Array(bytes) } : {}
      return (await handler(new Request(`http://${name}/mcp${query}`, { method, headers: [...all], ...content })))
        .status
    },
    close: () => handler.close(),
  }
}

export const httpEntryPoints: readonly EntryPointKind[] = [
  ...deployedEntryPoints,
  { name: 'fetch', entry: './fetch', seesRawHeaders: false, takesBody: true, open: openFetch },
  {
    name: '/ws on the edge',
    entry: './websocket-edge',
    seesRawHeaders: false,
    takesBody: false,
    async open(server, options) {
      const { port, close } = await serveEdgeSockets(server, options)
      return { port, request: socketAt(port, '/ws'), close }
    },
  },
]
