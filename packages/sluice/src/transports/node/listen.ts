/**
 * One port of `node:http` for any number of servers, each below a separate path. It limits how slowly a request may
 * arrive.
 */

import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { isLoopback } from '../../core/loopback.ts'
import type { Page } from '../../core/plugin.ts'
import type { TransportServer } from '../../protocol/server.ts'
import { pathOf } from '../http/app.ts'
import type { RequestHandler } from '../http/routes.ts'
import { createDirectConnections } from './direct-connections.ts'
import type { NodeHttpApp, NodeHttpOptions } from './http-handler.ts'
import { createNodeHttpApp } from './http-handler.ts'
import { NodeReply, NodeRequest, notFoundPage, replyOnSocket } from './http-message.ts'
import { closeEarlyUpgrade, whenResponseIsNext } from './pipelining.ts'
import type { PressureMonitor } from './pressure-monitor.ts'
import { createPressureMonitor } from './pressure-monitor.ts'
import { loopQueue } from './turn-queue.ts'
import { createUnsentTracker } from './unsent-tracker.ts'

/** The address, the limits on connections, and how long closing may take. */
export interface ListenOptions extends NodeHttpOptions {
  /** The port, by default 3000. 0 picks a free one. */
  readonly port?: number
  /** The address to listen on, by default loopback. Set "hosts" too when you open the server to the network. */
  readonly host?: string
  readonly maxConnections?: number
  /**
   * How many bytes of answers may wait for clients to read them, on all connections together. By default 64 MiB. Above
   * it, the connections that read nothing for the longest time are closed. Set it lower in a small container.
   */
  readonly maxUnsentBytes?: number
  /** How long `close` waits for running calls before it closes their connections. By default 5 s. */
  readonly closeWithinMs?: number
}

export interface Mount {
  /** The prefix of the server's paths, such as `/memory`. Empty for the only server of a port. */
  readonly base: string
  readonly server: TransportServer
  /** Options of this server that override those of the port. */
  readonly options: NodeHttpOptions
}

/** A listening port: its addresses, and how to end it. */
export interface HttpListener {
  /** The URL of each endpoint, in the order of the mounts. */
  readonly urls: readonly string[]
  readonly server: NodeServer
  /** Ends a process behind a load balancer without losing an accepted call. */
  drain(options?: DrainOptions): Promise<void>
  /** Closes streams and sessions, refuses new connections, and waits a while for open ones. */
  close(): Promise<void>
}

/** The phases of draining, and how long each may take. */
export interface DrainOptions {
  /** How long `/readyz` fails while all requests are still served, so that a load balancer notices. By default 5 s. */
  readonly noticeMs?: number
  /** How long running calls may take after that, while new calls are refused. By default 10 s. */
  readonly graceMs?: number
}

interface MountedServer extends Mount {
  readonly app: NodeHttpApp
  readonly endpoint: string
}

/** Serves all mounts on one port. They share one admission control, because they share the process. */
export async function listen(mounts: readonly [Mount, ...Mount[]], options: ListenOptions): Promise<HttpListener> {
  const { port = 3000, host = '127.0.0.1', maxConnections = 10_000, maxUnsentBytes, closeWithinMs = 5_000 } = options
  await Promise.all(mounts.map(({ server }) => server.ready()))
  const [{ server: first }] = mounts
  const hasSession = (id: string): boolean => mounted.some(({ app }) => app.hasSession(id))
  let pressure: PressureMonitor | undefined
  const admissionControl = options.admission?.({
    clock: first.clock,
    hasSession,
    measure(thresholds = {}, requests) {
      pressure = createPressureMonitor(thresholds, { requests, turns: loopQueue })
      return pressure
    },
  })
  const unsent = createUnsentTracker({ clock: first.clock, maxBytes: maxUnsentBytes })
  const mounted: readonly MountedServer[] = mounts.map(({ base, server, options: ownOptions }) => {
    const all = { ...options, ...ownOptions, ...(admissionControl && { admission: () => admissionControl }) }
    return {
      base,
      server,
      options: ownOptions,
      app: createNodeHttpApp(server, all, unsent),
      endpoint: base + (all.path ?? '/mcp'),
    }
  })
  const routes = routesOf(mounted)
  let ending = false
  function handle(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    const path = pathOf(request.url ?? '')
    // Otherwise a client that keeps the connection would find it closed during its next request.
    if (ending) response.shouldKeepAlive = false
    const reply = new NodeReply(response, unsent)
    const httpRequest = new NodeRequest(request, expectsContinue ? () => reply.sendContinue() : undefined)
    const serve = routes.get(path)
    const served = serve ? serve(httpRequest, reply) : servePage(path, mounted, httpRequest, reply)
    served.catch(() => response.destroy())
  }
  // Not imported, because a server on stdio does not need it.
  const node = process.getBuiltinModule('node:http').createServer(
    // By default Node looks for slow requests only every 30 s, whatever the timeouts are.
    { headersTimeout: 5_000, requestTimeout: 15_000, connectionsCheckingInterval: 1_000, maxHeaderSize: 16 * 1024 },
    (request, response) => whenResponseIsNext(request, response, () => handle(request, response, false)),
  )
  // Without a listener Node sends 100 Continue by itself, before any check.
  node.on('checkContinue', (request: IncomingMessage, response: ServerResponse) =>
    whenResponseIsNext(request, response, () => handle(request, response, true)),
  )
  node.maxConnections = maxConnections
  const [acceptHttp] = node.listeners('connection')
  // Bun has no such listener: there all connections are read by its own HTTP server.
  const direct =
    acceptHttp &&
    createDirectConnections({
      routes,
      unsent,
      idleMs: node.keepAliveTimeout,
      handOver: (socket) => acceptHttp.call(node, socket),
      isEnding: () => ending,
    })
  if (direct) node.removeAllListeners('connection')
  node.on('connection', (socket) => {
    const release = admissionControl ? admissionControl.admitConnection(socket.remoteAddress ?? '') : noop
    if (!release) {
      socket.destroy()
      return
    }
    if (release !== noop) socket.on('close', release)
    direct?.accept(socket)
  })
  // Without a listener Node treats an upgrade as an ordinary request, which is right if there are no sockets.
  if (mounted.some(({ app }) => app.sockets))
    node.on('upgrade', (request, socket, head) => upgrade(mounted, request, socket, head))
  await new Promise<void>((resolve, reject) => {
    node.once('error', reject)
    node.listen(port, host, resolve)
  })
  const { port: bound } = node.address() as AddressInfo
  const origin = `http://${reachableName(host, options.hosts ?? (first.exposes && [first.exposes.host]))}:${bound}`
  let closing: Promise<void> | undefined
  async function end(): Promise<void> {
    ending = true
    const closed = new Promise<void>((resolve) => node.close(() => resolve()))
    pressure?.close()
    await Promise.all(mounted.map(({ server }) => server.close()))
    // Subscriptions get their last answer before their streams are closed.
    await new Promise((resolve) => setImmediate(resolve))
    await Promise.all(mounted.map(({ app }) => app.close()))
    node.closeIdleConnections()
    direct?.end()
    const cancelTimer = first.clock.after(closeWithinMs, () => {
      node.closeAllConnections()
      direct?.destroy()
    })
    await closed
    cancelTimer()
  }
  const close = (): Promise<void> => {
    closing ??= end()
    return closing
  }
  return {
    urls: mounted.map(({ endpoint }) => origin + endpoint),
    server: node,
    async drain({ noticeMs = 5_000, graceMs = 10_000 } = {}) {
      ending = true
      for (const { server } of mounted) server.drain()
      await new Promise<void>((resolve) => first.clock.after(noticeMs, resolve))
      // From here on a client that reconnects reaches another process.
      for (const { app } of mounted) app.detach()
      await Promise.all(mounted.map(({ server }) => server.shutDown(graceMs)))
      await close()
    },
    close,
  }
}

const noop = (): void => {}

/** Returns a host name that clients can use: not the address for all interfaces, and one that `hosts` allows. */
function reachableName(host: string, hosts: readonly string[] = []): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  const named = hosts.find((name) => !/:\d+$/.test(name))
  const isServed = isLoopback(host) || named === undefined || hosts.includes(host)
  const name = isServed ? host : named
  return name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
}

/** Maps exact paths to handlers. An extra slash, another case or an escape is another path. */
function routesOf(mounted: readonly MountedServer[]): ReadonlyMap<string, RequestHandler> {
  const routes = new Map<string, RequestHandler>()
  const add = (path: string, serve: RequestHandler): void => {
    if (routes.has(path)) throw new TypeError(`Two servers have the path ${path}: give each server a separate path`)
    routes.set(path, serve)
  }
  for (const { base, endpoint, app } of mounted) {
    if (base !== '' && !/^(?:\/[\w.~-]+)+$/.test(base))
      throw new TypeError(`Invalid path ${base}: begin with a slash and do not end with one, as in /memory`)
    add(endpoint, app.serve)
    for (const [path, serve] of app.routes) add(base + path, serve)
  }
  return routes
}

function upgrade(mounted: readonly MountedServer[], request: IncomingMessage, socket: Duplex, head: Buffer): void {
  if (closeEarlyUpgrade(request, socket)) return
  const path = pathOf(request.url ?? '')
  const found = mounted.find(({ base, app }) => app.sockets && base + app.sockets.path === path)
  if (found) found.app.upgrade(request, socket, head)
  else replyOnSocket(request, socket).send(notFoundPage.status, notFoundPage.headers, notFoundPage.body)
}

/** Serves the pages beside the endpoints: OAuth metadata, health and metrics. */
async function servePage(
  path: string,
  mounted: readonly MountedServer[],
  request: NodeRequest,
  reply: NodeReply,
): Promise<void> {
  const alone = mounted.length === 1
  // With several servers, the pages of the bare path are those of all, also if one of them has the bare endpoint.
  const matching = mounted.filter(({ base }) => (alone || base !== '') && path.startsWith(`${base}/`))
  const pages = [
    ...mounted.map(({ app }) => app.resourcePage(path, request, alone)),
    ...(await Promise.all(matching.map(({ base, app }) => app.page(path.slice(base.length), request)))),
    matching.length > 0 ? undefined : await combinedPage(path, mounted, request),
  ]
  const { status, headers, body } = pages.find((page) => page !== undefined) ?? notFoundPage
  reply.send(status, headers, body)
}

/**
 * Answers for all servers of the port: it is ready when each server is, and its metrics are theirs, labelled by server.
 */
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
