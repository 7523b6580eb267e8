/** One port of `node:http` for any number of servers, each below a path of its own, with limits on how slowly a request may come in. */

import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { isLoopback } from '../../core/loopback.ts'
import type { Page } from '../../core/plugin.ts'
import type { TransportServer } from '../../protocol/server.ts'
import { pathOf } from '../http/app.ts'
import type { RequestHandler } from '../http/routes.ts'
import type { NodeHttpApp, NodeHttpOptions } from './http-handler.ts'
import { createNodeHttpApp } from './http-handler.ts'
import { loopQueue, NodeReply, NodeRequest, notFoundPage, replyOnSocket } from './http-message.ts'
import { whenResponseIsNext } from './pipelining.ts'
import type { PressureMonitor } from './pressure-monitor.ts'
import { createPressureMonitor } from './pressure-monitor.ts'
import { createUnsentTracker } from './unsent-tracker.ts'

/** `import 'node:http'` reads every export of it, and one of them loads all of fetch: longer than all of ours. */
const { createServer: createNodeServer } = process.getBuiltinModule('node:http')

/** Where to listen, for whom, and how long closing may take. */
export interface ListenOptions extends NodeHttpOptions {
  /** 0 takes a free one. */
  readonly port?: number
  /** Loopback unless said: whoever opens it to the network also names its `hosts`. */
  readonly host?: string
  readonly maxConnections?: number
  /**
   * Bytes of answers that may wait for clients to read them, on all connections together: 64 MiB by default. Past it, the
   * connections that took nothing for the longest time are closed. In a small container set it lower.
   */
  readonly maxUnsentBytes?: number
  /** How long `close` waits for calls under way before it cuts their connections. */
  readonly closeWithinMs?: number
}

export interface Mount {
  /** What its paths begin with, as `/memory`; empty for a server that has the port to itself. */
  readonly base: string
  readonly server: TransportServer
  /** What differs from the port's. */
  readonly options: NodeHttpOptions
}

/** What listens: where, and how to end it. */
export interface HttpListener {
  /** Where each endpoint is, in the order of the mounts. */
  readonly urls: readonly string[]
  readonly server: NodeServer
  /** The way out for a process behind a balancer: no call that was taken is lost. */
  drain(options?: DrainOptions): Promise<void>
  /** Ends streams and sessions, refuses new connections, waits a while for the open ones. */
  close(): Promise<void>
}

/** How long the end of a process may take. */
export interface DrainOptions {
  /** `/readyz` fails and everything is served for this long: what a balancer needs to notice. 5 s unless said. */
  readonly noticeMs?: number
  /** Then new calls are refused and those under way have this long: 10 s unless said. */
  readonly graceMs?: number
}

interface MountedServer extends Mount {
  readonly app: NodeHttpApp
  readonly endpoint: string
}

/** Behind one gate: what one of the servers is busy with, the others cannot be. */
export async function listen(mounts: readonly [Mount, ...Mount[]], options: ListenOptions): Promise<HttpListener> {
  const { port = 3000, host = '127.0.0.1', maxConnections = 10_000, maxUnsentBytes, closeWithinMs = 5_000 } = options
  await Promise.all(mounts.map(({ server }) => server.ready()))
  const [{ server: first }] = mounts
  const hasSession = (id: string): boolean => mounted.some(({ app }) => app.hasSession(id))
  let pressure: PressureMonitor | undefined
  const gate = options.admission?.({
    clock: first.clock,
    hasSession,
    measure(marks) {
      pressure = createPressureMonitor(marks, undefined, undefined, loopQueue)
      return pressure
    },
  })
  const unsent = createUnsentTracker({ clock: first.clock, maxBytes: maxUnsentBytes })
  const mounted: readonly MountedServer[] = mounts.map(({ base, server, options: own }) => {
    const all = { ...options, ...own, ...(gate && { admission: () => gate }) }
    return {
      base,
      server,
      options: own,
      app: createNodeHttpApp(server, all, unsent),
      endpoint: base + (all.path ?? '/mcp'),
    }
  })
  const routes = routesOf(mounted)
  let leaving = false
  function take(request: IncomingMessage, response: ServerResponse, asksFirst: boolean): void {
    const path = pathOf(request.url ?? '')
    // Whoever keeps a connection would find it closed under the next request.
    if (leaving) response.shouldKeepAlive = false
    const reply = new NodeReply(response, unsent)
    const asked = new NodeRequest(request, asksFirst ? () => reply.sendContinue() : undefined)
    const serve = routes.get(path)
    const served = serve ? serve(asked, reply) : servePage(path, mounted, asked, reply)
    served.catch(() => response.destroy())
  }
  const node = createNodeServer(
    // Node looks for slow requests every 30 s unless told, whatever the timeouts say.
    { headersTimeout: 5_000, requestTimeout: 15_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    (request, response) => whenResponseIsNext(request, response, () => take(request, response, false)),
  )
  // Without a listener Node says 100 by itself, before anything was checked.
  node.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    whenResponseIsNext(request, response, () => take(request, response, true)),
  )
  node.maxConnections = maxConnections
  if (gate)
    node.on('connection', (socket) => {
      const leave = gate.admitConnection(socket.remoteAddress ?? '')
      if (leave) socket.on('close', leave)
      else socket.destroy()
    })
  // Without a listener Node takes an upgrade for an ordinary request, which is right where there are no sockets.
  if (mounted.some(({ app }) => app.sockets))
    node.on('upgrade', (request, socket, head) => upgrade(mounted, request, socket, head))
  await new Promise<void>((resolve, reject) => {
    node.once('error', reject)
    node.listen(port, host, resolve)
  })
  const { port: bound } = node.address() as AddressInfo
  const origin = `http://${reachableName(host, options.hosts)}:${bound}`
  let closing: Promise<void> | undefined
  async function end(): Promise<void> {
    leaving = true
    const closed = new Promise<void>((resolve) => node.close(() => resolve()))
    pressure?.close()
    await Promise.all(mounted.map(({ server }) => server.close()))
    // Subscriptions have their last answer before their streams are cut.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all(mounted.map(({ app }) => app.close()))
    node.closeIdleConnections()
    const callOff = first.clock.after(closeWithinMs, () => node.closeAllConnections())
    await closed
    callOff()
  }
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  return {
    urls: mounted.map(({ endpoint }) => origin + endpoint),
    server: node,
    async drain({ noticeMs = 5_000, graceMs = 10_000 } = {}) {
      leaving = true
      for (const { server } of mounted) server.drain()
      await new Promise<void>((resolve) => first.clock.after(noticeMs, resolve))
      // From here on whoever comes back finds another process.
      for (const { app } of mounted) app.detach()
      await Promise.all(mounted.map(({ server }) => server.shutDown(graceMs)))
      await close()
    },
    close,
  }
}

/** Returns a name that is served: no client can use the address for all interfaces, and another one must be in `hosts`. */
function reachableName(host: string, hosts: readonly string[] = []): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  const named = hosts.find((name) => !/:\d+$/.test(name))
  const isServed = isLoopback(host) || named === undefined || hosts.includes(host)
  const name = isServed ? host : named
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
}

/** Exact paths: a slash more, another case or an escape is another path. */
function routesOf(mounted: readonly MountedServer[]): ReadonlyMap<string, RequestHandler> {
  const routes = new Map<string, RequestHandler>()
  const add = (path: string, serve: RequestHandler): void => {
    if (routes.has(path)) throw new TypeError(`${path} would be served by two: give each server a path of its own`)
    routes.set(path, serve)
  }
  for (const { base, endpoint, app } of mounted) {
    if (base !== '' && !/^(?:\/[\w.~-]+)+$/.test(base))
      throw new TypeError(`${base}: a path begins with a slash and does not end with one, as in /memory`)
    add(endpoint, app.serve)
    for (const [path, serve] of app.routes) add(base + path, serve)
  }
  return routes
}

function upgrade(mounted: readonly MountedServer[], request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const path = pathOf(request.url ?? '')
  const found = mounted.find(({ base, app }) => app.sockets && base + app.sockets.path === path)
  if (found) found.app.upgrade(request, socket, head)
  else replyOnSocket(request, socket).send(notFoundPage.status, notFoundPage.headers, notFoundPage.body)
}

/** Beside the endpoints: what OAuth clients read, health and metrics. */
async function servePage(
  path: string,
  mounted: readonly MountedServer[],
  request: NodeRequest,
  reply: NodeReply,
): Promise<void> {
  const alone = mounted.length === 1
  const own = mounted.filter(({ base }) => alone || path.startsWith(`${base}/`))
  const pages = [
    ...mounted.map(({ app }) => app.resourcePage(path, request, alone)),
    ...(await Promise.all(own.map(({ base, app }) => app.page(path.slice(base.length), request)))),
    alone ? undefined : await combinedPage(path, mounted, request),
  ]
  const { status, headers, body } = pages.find((page) => page !== undefined) ?? notFoundPage
  reply.send(status, headers, body)
}

/** The port answers for all of its servers: it is ready when each of them is, and its metrics are theirs, labelled by server. */
async function combinedPage(
  path: string,
  mounted: readonly MountedServer[],
  request: NodeRequest,
): Promise<Page | undefined> {
  if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return undefined
  const pages = await Promise.all(mounted.map(({ app }) => app.page(path, request)))
  const found = pages.filter((page) => page !== undefined)
  const join = found[0]?.join
  if (found[0] && join) return { ...found[0], body: join(found.map(({ body }) => body)) }
  if (pages.includes(undefined)) return undefined
  return pages.find((page) => page?.status !== 200) ?? pages[0]
}
