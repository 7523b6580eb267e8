/** One port of `node:http` for any number of servers, each below a path of its own, with limits on how slowly a request may come in. */

import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { isLoopback } from '../../core/loopback.ts'
import type { Page } from '../../core/part.ts'
import type { Server } from '../../protocol/server.ts'
import type { NodeSite, NodeSiteOptions } from './node.ts'
import { createNodeSite } from './node.ts'
import { loopTurn, NodeReply, NodeRequest, notHere, replyOn } from './node-message.ts'
import { whenNext } from './pipelined.ts'
import type { OwnedPressure } from './pressure.ts'
import { createPressure } from './pressure.ts'
import { pathOf } from './site.ts'
import { createUnsent } from './unsent.ts'
import type { Serve } from './way.ts'

/** `import 'node:http'` reads every export of it, and one of them loads all of fetch: longer than all of ours. */
const { createServer: createNodeServer } = process.getBuiltinModule('node:http')

/** Where to listen, for whom, and how long closing may take. */
export interface ListenOptions extends NodeSiteOptions {
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
  readonly server: Server
  /** What differs from the port's. */
  readonly options: NodeSiteOptions
}

/** What listens: where, and how to end it. */
export interface Listening {
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

interface Mounted extends Mount {
  readonly site: NodeSite
  readonly endpoint: string
}

/** Behind one gate: what one of the servers is busy with, the others cannot be. */
export async function listen(mounts: readonly [Mount, ...Mount[]], options: ListenOptions): Promise<Listening> {
  const { port = 3000, host = '127.0.0.1', maxConnections = 10_000, maxUnsentBytes, closeWithinMs = 5_000 } = options
  await Promise.all(mounts.map(({ server }) => server.ready()))
  const [{ server: first }] = mounts
  const hasSession = (id: string): boolean => mounted.some(({ site }) => site.hasSession(id))
  let pressure: OwnedPressure | undefined
  const gate = options.gate?.({
    clock: first.clock,
    hasSession,
    measure(marks) {
      pressure = createPressure(marks, undefined, undefined, loopTurn)
      return pressure
    },
  })
  const unsent = createUnsent({ clock: first.clock, maxBytes: maxUnsentBytes })
  const mounted: readonly Mounted[] = mounts.map(({ base, server, options: own }) => {
    const all = { ...options, ...own, ...(gate && { gate: () => gate }) }
    return {
      base,
      server,
      options: own,
      site: createNodeSite(server, all, unsent),
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
    const asked = new NodeRequest(request, asksFirst ? () => reply.goOn() : undefined)
    const serve = routes.get(path)
    const served = serve ? serve(asked, reply) : aside(path, mounted, asked, reply)
    served.catch(() => response.destroy())
  }
  const node = createNodeServer(
    // Node looks for slow requests every 30 s unless told, whatever the timeouts say.
    { headersTimeout: 5_000, requestTimeout: 15_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    (request, response) => whenNext(request, response, () => take(request, response, false)),
  )
  // Without a listener Node says 100 by itself, before anything was checked.
  node.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    whenNext(request, response, () => take(request, response, true)),
  )
  node.maxConnections = maxConnections
  if (gate)
    node.on('connection', (socket) => {
      const leave = gate.connect(socket.remoteAddress ?? '')
      if (leave) socket.on('close', leave)
      else socket.destroy()
    })
  // Without a listener Node takes an upgrade for an ordinary request, which is right where there are no sockets.
  if (mounted.some(({ site }) => site.sockets))
    node.on('upgrade', (request, socket, head) => upgrade(mounted, request, socket, head))
  await new Promise<void>((resolve, reject) => {
    node.once('error', reject)
    node.listen(port, host, resolve)
  })
  const { port: bound } = node.address() as AddressInfo
  const origin = `http://${reachedAs(host, options.hosts)}:${bound}`
  let closing: Promise<void> | undefined
  async function end(): Promise<void> {
    leaving = true
    const closed = new Promise<void>((resolve) => node.close(() => resolve()))
    pressure?.close()
    await Promise.all(mounted.map(({ server }) => server.close()))
    // Subscriptions have their last answer before their streams are cut.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all(mounted.map(({ site }) => site.close()))
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
      for (const { site } of mounted) site.letGo()
      await Promise.all(mounted.map(({ server }) => server.finish(graceMs)))
      await close()
    },
    close,
  }
}

/** Returns a name that is served: no client can use the address for all interfaces, and another one must be in `hosts`. */
function reachedAs(host: string, hosts: readonly string[] = []): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  const named = hosts.find((name) => !/:\d+$/.test(name))
  const isServed = isLoopback(host) || named === undefined || hosts.includes(host)
  const name = isServed ? host : named
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
}

/** Exact paths: a slash more, another case or an escape is another path. */
function routesOf(mounted: readonly Mounted[]): ReadonlyMap<string, Serve> {
  const routes = new Map<string, Serve>()
  const add = (path: string, serve: Serve): void => {
    if (routes.has(path)) throw new TypeError(`${path} would be served by two: give each server a path of its own`)
    routes.set(path, serve)
  }
  for (const { base, endpoint, site } of mounted) {
    if (base !== '' && !/^(?:\/[\w.~-]+)+$/.test(base))
      throw new TypeError(`${base}: a path begins with a slash and does not end with one, as in /memory`)
    add(endpoint, site.serve)
    for (const [path, serve] of site.ways) add(base + path, serve)
  }
  return routes
}

function upgrade(mounted: readonly Mounted[], request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const path = pathOf(request.url ?? '')
  const found = mounted.find(({ base, site }) => site.sockets && base + site.sockets.path === path)
  if (found) found.site.upgrade(request, socket, head)
  else replyOn(request, socket).end(notHere.status, notHere.headers, notHere.body)
}

/** Beside the endpoints: what OAuth clients read, health and metrics. */
async function aside(path: string, mounted: readonly Mounted[], request: NodeRequest, reply: NodeReply): Promise<void> {
  const alone = mounted.length === 1
  const own = mounted.filter(({ base }) => alone || path.startsWith(`${base}/`))
  const pages = [
    ...mounted.map(({ site }) => site.known(path, request, alone)),
    ...(await Promise.all(own.map(({ base, site }) => site.page(path.slice(base.length), request)))),
    alone ? undefined : await together(path, mounted, request),
  ]
  const { status, headers, body } = pages.find((page) => page !== undefined) ?? notHere
  reply.end(status, headers, body)
}

/** The port answers for all of its servers: it is ready when each of them is, and its metrics are theirs, labelled by server. */
async function together(path: string, mounted: readonly Mounted[], request: NodeRequest): Promise<Page | undefined> {
  if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return undefined
  const pages = await Promise.all(mounted.map(({ site }) => site.page(path, request)))
  const found = pages.filter((page) => page !== undefined)
  const join = found[0]?.join
  if (found[0] && join) return { ...found[0], body: join(found.map(({ body }) => body)) }
  if (pages.includes(undefined)) return undefined
  return pages.find((page) => page?.status !== 200) ?? pages[0]
}
