/** What the tests of the gateway share: upstream programs, a gateway over HTTP, and clients of both eras. */

import type { ChildProcess } from 'node:child_process'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { ServerDefinition, ServerOptions, Verifier } from 'sluice'
import { authenticate, tenants } from 'sluice'
import type { Client, ClientOptions } from 'sluice/client'
import { connect, httpTransport } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import type { Gateway, GatewayOptions, Upstream } from 'sluice/gateway-node'
import { gateway } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { onTestFinished } from 'vitest'

export type Revision = NonNullable<ClientOptions['revision']>
export const eras: readonly Revision[] = ['2025-11-25', '2026-07-28']

const silent = { info() {}, warn() {}, error() {} }

/** Starts a program of `test/interop/foreign` and returns its address. */
export async function startForeign(
  name: string,
  ...args: readonly string[]
): Promise<[url: string, child: ChildProcess]> {
  const program = join(import.meta.dirname, '../interop/foreign', `${name}.fixture.ts`)
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      if (/^http:\S+$/.test(line)) resolve(line)
    })
    child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)))
  })
  return [url, child]
}

/** Accepts tokens such as `acme.alice`: the tenant and the subject. */
const byToken: Verifier = {
  verify: (token) => {
    const [org, subject = ''] = token.split('.')
    return Promise.resolve({
      ...{ subject, credential: `token ${token}`, scopes: new Set(subject.split('-').slice(1)) },
      ...{ claims: { org }, expires: Number.POSITIVE_INFINITY },
    })
  },
}
/** Callers with tokens, each in the tenant that the token names. */
export const withTokens: NonNullable<ServerOptions['use']> = [authenticate(byToken), tenants({ claim: 'org' })]
export const token = (text: string): Record<string, string> => ({ authorization: `Bearer ${text}` })

/** Serves a definition over HTTP until the test ends. */
export async function served(definition: ServerDefinition, options: ServerOptions = {}): Promise<string> {
  const server = createServer(definition, { ...options, use: [log(silent), ...(options.use ?? [])] })
  const serving = await serveHttp(server, { port: 0 })
  onTestFinished(async () => {
    await serving.close()
  })
  return serving.url
}

/** A busy machine starts programs slowly. */
const startMs = 60_000

/** A gateway that is served, and its parts. */
export interface ServedGateway {
  readonly team: Gateway
  readonly url: string
}

/** Serves the endpoint for all upstreams. */
export async function servedGateway(
  upstreams: readonly Upstream[],
  options: ServerOptions = {},
  more: Partial<GatewayOptions> = {},
): Promise<ServedGateway> {
  const team = gateway({ name: 'team', version: '1.0.0', startMs, upstreams, ...more })
  return { team, url: await served(team, options) }
}

/** Serves the endpoint of one upstream, with its own names. */
export async function servedAlone(upstream: Upstream, options: ServerOptions = {}): Promise<ServedGateway> {
  const team = gateway({ name: 'team', version: '1.0.0', startMs, upstreams: [upstream] })
  const definition = team.endpoints[upstream.name]
  if (!definition) throw new Error('no endpoint')
  return { team, url: await served(definition, options) }
}

/** Connects a client until the test ends. */
export async function clientOf(
  url: string,
  options: ClientOptions = {},
  headers: Record<string, string> = {},
): Promise<Client> {
  const sender = createNodeSender()
  const client = await connect(httpTransport(url, { sender: sender.send, headers }), options)
  onTestFinished(async () => {
    await client.close()
    sender.close()
  })
  return client
}

/** Returns everything that a list yields. */
export async function allOf<T>(list: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const entry of list) found.push(entry)
  return found
}

export async function namesOf(
  list: AsyncIterable<{ readonly [member: string]: unknown }>,
  member = 'name',
): Promise<unknown[]> {
  const names: unknown[] = []
  for await (const entry of list) names.push(entry[member])
  return names
}
