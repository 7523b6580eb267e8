/** Where a server can stand with all its ways in: on a port of its own, or mounted into each framework. A new mount is a row. */

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
  /** What the other paths begin with. */
  readonly base: string
  close(): Promise<void>
}

export interface Deployment {
  /** The name of one of its ways here, by that on a port of its own. */
  nameOf(way: string): string
  /** The entry of the package that its endpoint comes from. */
  readonly entry: string
  /** Whether it sees the header lines as they came, and sockets. */
  readonly node: boolean
  open(server: Server, options?: NodeHttpOptions): Promise<DeployedServer>
}

const everyTransport = (): NodeHttpOptions => ({ sse: sse(), websocket: websocket() })

const ownPort: Deployment = {
  nameOf: (way) => way,
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
      nameOf: (way) => `${way} mounted into ${name}`,
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
