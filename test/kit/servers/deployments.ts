/**
 * The deployments of a server with all its entry points: on its own port, or mounted into each framework. A new mount
 * is a row.
 */

import type { Server as NodeServer } from 'node:http'
import type { Server } from 'sluice'
import type { NodeHttpOptions } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { mountKinds } from './mounts.ts'

export interface DeployedServer {
  readonly port: number
  readonly node: NodeServer
  /** The path of the MCP endpoint. */
  readonly endpoint: string
  /** The prefix of the other paths. */
  readonly base: string
  close(): Promise<void>
}

export interface Deployment {
  /** Returns the name of an entry point here, from its name on its own port. */
  nameOf(transport: string): string
  /** The entry of the package that provides its endpoint. */
  readonly entry: string
  /** Whether it sees the raw header lines, and sockets. */
  readonly node: boolean
  open(server: Server, options?: NodeHttpOptions): Promise<DeployedServer>
}

const everyTransport = (): NodeHttpOptions => ({ sse: sse(), websocket: websocket() })

const ownPort: Deployment = {
  nameOf: (transport) => transport,
  entry: './node',
  node: true,
  async open(server, options) {
    const { url, server: node, close } = await serveHttp(server, { port: 0, ...everyTransport(), ...options })
    return { port: Number(new URL(url).port), node, endpoint: '/mcp', base: '', close }
  },
}

export const deployments: readonly Deployment[] = [
  ownPort,
  ...mountKinds.map(
    ({ name, open, sockets }): Deployment => ({
      nameOf: (transport) => `${transport} mounted into ${name}`,
      entry: sockets ? './node' : './fetch',
      node: sockets,
      async open(server, options) {
        const { url, node, close } = await open(server, { ...everyTransport(), ...options })
        const { port, pathname } = new URL(url)
        return { port: Number(port), node, endpoint: pathname, base: pathname, close }
      },
    }),
  ),
]
