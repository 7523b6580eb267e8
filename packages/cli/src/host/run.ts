/** Opens servers on a host and puts them on one port. */

import type { ServerDefinition } from 'sluice'
import { type OpenedServer, type Server } from 'sluice'
import type { ManyServing } from 'sluice/node'
import { admission, createServer, nodeClock, protectedResource, serveMany, sessions } from 'sluice/node'
import { sse } from 'sluice/sse'
import type { Config } from '../config/schema.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { Host } from './host.ts'
import { omitUndefined } from './omit-undefined.ts'

export interface NamedServer {
  readonly name: string
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
  const { websocket } = config.websocket ? await import('sluice/websocket') : { websocket: undefined }
  const sites = named.map(({ name, opened }) => {
    const server = servers[name] as Server
    const own = { maxBodyBytes: opened.maxMessageBytes, sessions: sessionsOf(config, opened) }
    return [`/${name}`, { server, ...omitUndefined(own) }] as const
  })
  try {
    const serving = await serveMany(Object.fromEntries(sites), {
      host: config.host,
      port: config.port,
      ...omitUndefined({ hosts: config.hosts, origins: config.origins }),
      ...(config.admission && { admission: admission(omitUndefined(config.admission)) }),
      ...(config.sse && config.sessions !== null && { sse: sse() }),
      ...(websocket && { websocket: websocket() }),
      ...(resource && { resource: protectedResource(omitUndefined(resource)) }),
    })
    return { serving, servers }
  } catch (thrown) {
    throw explainListenError(thrown, config.host, config.port, '--port')
  }
}

/** A server that takes plain requests serves those without a session beside those with one. */
const sessionsOf = ({ sessions: settings }: Config, { stateless }: OpenedServer): ReturnType<typeof sessions> | false =>
  settings !== null && sessions({ ...omitUndefined(settings), required: !stateless })

type TimedPolicy = NonNullable<ServerDefinition['tools']>[number]['policy']

/** Gives tools, resources and prompts that name no deadline of their own the operator's. */
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

/** Refuses servers that would have other data in each process: a client would find what it wrote in one call of several. */
export function refuseSplitData(named: readonly NamedServer[], { store, sharedData }: Config): void {
  if (typeof store !== 'object' || sharedData) return
  const lines = named.flatMap(({ name, opened }) =>
    opened.sharedStoreAdvice ? [`  ${name}: ${opened.sharedStoreAdvice}`] : [],
  )
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
export function explainListenError(thrown: unknown, host: string, port: number, flag: string): unknown {
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
