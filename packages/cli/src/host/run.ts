/** Opens servers on a host and puts them on one port. */

import type { ServerDefinition } from 'sluice'
import { createServer, type Opened, type Server } from 'sluice'
import type { SitesServing } from 'sluice/node'
import { gate, nodeClock, protectedResource, serveSites } from 'sluice/node'
import { sse } from 'sluice/sse'
import type { Config } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { Host } from './host.ts'
import { defined } from './options.ts'

export interface Named {
  readonly name: string
  readonly opened: Opened
}
export interface Running {
  readonly serving: SitesServing
  readonly servers: { readonly [name: string]: Server }
}

export function toServer({ opened }: Named, host: Host): Server {
  const server = createServer(opened.definition, host.runtimeFor(opened))
  opened.started?.(server)
  return server
}

export async function runSites(named: readonly Named[], host: Host, config: Config): Promise<Running> {
  const servers = Object.fromEntries(named.map((each) => [each.name, toServer(each, host)]))
  const resource = config.authenticate?.resource
  const { websocket } = config.websocket ? await import('sluice/websocket') : { websocket: undefined }
  const sites = named.map(({ name, opened }) => {
    const server = servers[name] as Server
    const most = opened.maxMessageBytes
    return [`/${name}`, { server, ...(most && { maxBodyBytes: most }) }] as const
  })
  try {
    const serving = await serveSites(Object.fromEntries(sites), {
      host: config.host,
      port: config.port,
      ...defined({ hosts: config.hosts, origins: config.origins }),
      ...(config.gate && { gate: gate(defined(config.gate)) }),
      ...(config.sse && { sse: sse() }),
      ...(websocket && { websocket: websocket() }),
      ...(resource && { resource: protectedResource(defined(resource)) }),
    })
    return { serving, servers }
  } catch (thrown) {
    throw explained(thrown, config.host, config.port, '--port')
  }
}

/** Refuses servers that would have other data in each process: a client would find what it wrote in one call of several. */
export function refuseSplit(named: readonly Named[], { store, sharedData }: Config): void {
  if (typeof store !== 'object' || sharedData) return
  const lines = named.flatMap(({ name, opened }) => (opened.keepsFiles ? [`  ${name}: ${opened.keepsFiles}`] : []))
  if (lines.length === 0) return
  throw new CommandError(
    [
      'The store is Redis, which several processes share, but these servers keep data in files that each machine has alone:',
      ...lines,
      'If every process uses this same data folder, set sharedData: true.',
    ].join('\n'),
    exitCodes.usage,
  )
}

/** What a person can do about a port that cannot be had. */
export function explained(thrown: unknown, host: string, port: number, flag: string): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'EADDRINUSE')
    return new CommandError(
      `Port ${port} is taken. Choose another with ${flag} ${port + 1}, or stop what listens on ${host}:${port}.`,
    )
  if (code === 'EACCES')
    return new CommandError(`This account may not use port ${port}. Choose one above 1023 with ${flag}.`)
  if (code === 'EADDRNOTAVAIL')
    return new CommandError(`${host} is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all.`)
  return thrown
}

export const clock = nodeClock
export const isGated = ({ tools = [] }: ServerDefinition): boolean =>
  tools.some(({ policy }) => policy.approval !== 'never')
