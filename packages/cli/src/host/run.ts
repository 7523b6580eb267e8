/** Opens servers on a host and serves them on one port. */

import type { ServerDefinition } from 'sluice'
import { type OpenedServer, type Server } from 'sluice'
import type { ManyServing } from 'sluice/node'
import { admission, createServer, nodeClock, protectedResource, serveMany, sessions } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { Host } from './host.ts'
import { omitUndefined } from './omit-undefined.ts'

export interface NamedServer {
  readonly name: string
  /** The path before `/mcp`, by default the name. Empty for the endpoint of all upstreams. */
  readonly path?: string
  readonly opened: OpenedServer
}
export interface RunningServers {
  readonly serving: ManyServing
  readonly servers: { readonly [name: string]: Server }
}

export function toServer({ opened }: NamedServer, host: Host, config: Config): Server {
  const server = createServer(withDeadline(opened.definition, config.timeoutMs), host.optionsFor(opened))
  opened.started?.(server)
  return server
}

export async function runServers(named: readonly NamedServer[], host: Host, config: Config): Promise<RunningServers> {
  const servers = Object.fromEntries(named.map((each) => [each.name, toServer(each, host, config)]))
  const resource = config.authenticate?.resource
  const { sse } = config.sse && config.sessions !== null ? await import('sluice/sse') : { sse: undefined }
  const { websocket } = config.websocket ? await import('sluice/websocket') : { websocket: undefined }
  const entries = named.map(({ name, path = `/${name}`, opened }) => {
    const server = servers[name] as Server
    const options = { maxBodyBytes: opened.maxMessageBytes, sessions: sessionsOf(config, opened) }
    return [path, { server, ...omitUndefined(options) }] as const
  })
  try {
    const serving = await serveMany(Object.fromEntries(entries), {
      host: config.host,
      port: config.port,
      ...omitUndefined({ hosts: config.hosts, origins: config.origins }),
      ...(config.admission && { admission: admission(omitUndefined(config.admission)) }),
      ...(sse && { sse: sse() }),
      ...(websocket && { websocket: websocket() }),
      ...(resource && { resource: protectedResource(omitUndefined(resource)) }),
    })
    return { serving, servers }
  } catch (thrown) {
    throw explainListenError(thrown, config.host, config.port, '--port')
  }
}

/** A stateless server accepts requests without a session beside those with one. */
const sessionsOf = ({ sessions: settings }: Config, { stateless }: OpenedServer): ReturnType<typeof sessions> | false =>
  settings !== null && sessions({ ...omitUndefined(settings), required: !stateless })

type TimedPolicy = NonNullable<ServerDefinition['tools']>[number]['policy']

/** Sets the operator's deadline on tools, resources and prompts that have none. */
export function withDeadline(definition: ServerDefinition, timeoutMs: number | undefined): ServerDefinition {
  if (timeoutMs === undefined) return definition
  const timed = <T extends { readonly policy: TimedPolicy }>(all: readonly T[] = []): readonly T[] =>
    all.map((each) => (each.policy.ownTimeout ? each : { ...each, policy: { ...each.policy, timeoutMs } }))
  const { tools, resources, prompts } = definition
  return {
    ...definition,
    ...(tools && { tools: timed(tools) }),
    ...(resources && { resources: timed(resources) }),
    ...(prompts && { prompts: timed(prompts) }),
  }
}

/** Refuses servers whose data would differ between processes, because a client would find its writes only sometimes. */
export function refuseSplitData(named: readonly NamedServer[], { store, sharedData }: Config): void {
  if (typeof store !== 'object' || sharedData) return
  const lines = named.flatMap(({ name, opened }) =>
    opened.sharedStoreAdvice ? [`  ${name}: ${opened.sharedStoreAdvice}`] : [],
  )
  if (lines.length === 0) return
  throw new CommandError(
    [
      `The store is ${'redis' in store ? 'Redis' : 'PostgreSQL'}, which several processes share, but these servers keep data in local files:`,
      ...lines,
      'If every process uses this same data folder, set "sharedData" to true.',
    ].join('\n'),
    exitCodes.usage,
  )
}

/** Turns an error of `listen` into a message that says what to do. */
export function explainListenError(thrown: unknown, host: string, port: number, flag: string): unknown {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  if (code === 'EADDRINUSE')
    return new CommandError(
      `Port ${port} is in use. Choose another with ${flag} ${port + 1}, or stop the program that listens on ${host}:${port}.`,
    )
  if (code === 'EACCES')
    return new CommandError(`This account may not use port ${port}. Choose one above 1023 with ${flag}.`)
  if (code === 'EADDRNOTAVAIL')
    return new CommandError(`${host} is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all addresses.`)
  return thrown
}

export const clock = nodeClock
export const isGated = ({ tools = [] }: ServerDefinition): boolean =>
  tools.some(({ policy }) => policy.approval !== 'never')
