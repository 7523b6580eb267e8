/** Every way to mount a server into another program, on a free port. A new one is a row. */

import type { Server as NodeServer } from 'node:http'
import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import type { Server } from 'sluice'
import type { FetchOptions } from 'sluice/fetch'
import { sessions, toFetch } from 'sluice/fetch'
import type { NodeHandler, NodeHttpOptions } from 'sluice/node'
import { createHttpHandler, toFastify } from 'sluice/node'

export interface Mounted {
  /** The URL of the MCP endpoint; the other entry points are below it. */
  readonly url: string
  readonly node: NodeServer
  close(): Promise<void>
}

export interface MountKind {
  readonly name: string
  /** Whether WebSockets can be opened below it. */
  readonly sockets: boolean
  open(server: Server, options: NodeHttpOptions): Promise<Mounted>
}

const listening = async (node: NodeServer, handler: { close(): unknown }): Promise<Mounted> => {
  if (!node.listening) await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  const { port } = node.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/tools/mcp`,
    node,
    async close() {
      await handler.close()
      node.closeAllConnections()
      await new Promise((resolve) => node.close(resolve))
    },
  }
}
/** `serveHttp` sets this by itself; otherwise Node checks for slow requests every 30 s. */
const http = { connectionsCheckingInterval: 1_000 }
const upgrading = (node: NodeServer, handler: NodeHandler): NodeServer => node.on('upgrade', handler.upgrade)

export const mountKinds: readonly MountKind[] = [
  {
    name: 'node:http',
    sockets: true,
    async open(server, options) {
      const handler = createHttpHandler(server, options)
      return listening(upgrading(createNodeServer(http, handler), handler), handler)
    },
  },
  {
    name: 'Express',
    sockets: true,
    async open(server, options) {
      const app = express()
      const handler = createHttpHandler(server, options)
      app.use('/tools/mcp', handler)
      app.use(express.json())
      return listening(upgrading(createNodeServer(http, app), handler), handler)
    },
  },
  {
    name: 'Fastify',
    sockets: true,
    async open(server, options) {
      const app = fastify({ http })
      const handler = createHttpHandler(server, options)
      app.register(toFastify(handler), { prefix: '/tools/mcp' })
      await app.listen({ port: 0, host: '127.0.0.1' })
      return listening(upgrading(app.server, handler), handler)
    },
  },
  {
    name: 'Hono',
    sockets: false,
    async open(server, { websocket: _, ...options }) {
      const app = new Hono()
      const handler = toFetch(server, { sessions: sessions(), ...options } satisfies FetchOptions)
      app.mount('/tools/mcp', handler, { replaceRequest: false })
      return listening(createAdaptorServer({ fetch: app.fetch, serverOptions: http }) as NodeServer, handler)
    },
  },
]
