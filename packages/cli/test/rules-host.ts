/** A host in this process with upstreams behind rules, as `sluice start` makes it of a configuration, and clients with keys. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiKey } from 'sluice'
import { apiKeys } from 'sluice'
import type { Client } from 'sluice/client'
import type { Gateway } from 'sluice/gateway-node'
import { onTestFinished } from 'vitest'
import { clientOf, token } from '../../../test/gateway/kit.ts'
import { type RawUpstream, rawTool, rawUpstream, textResult } from '../../../test/gateway/raw-upstream.ts'
import { loadConfig } from '../src/config/load.ts'
import type { ServerSettings, UpstreamRuleSettings } from '../src/config/schema.ts'
import { createHost, type Host } from '../src/host/host.ts'
import { runServers } from '../src/host/run.ts'
import { openUpstreams } from '../src/host/upstreams.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

export const inputSchema = {
  type: 'object',
  properties: { text: { type: 'string' }, mode: { type: 'string' } },
  required: ['text', 'mode'],
}
/** What every tool answers. */
export const rows = [
  { id: 1, name: 'a' },
  { id: 2, name: 'b' },
  { id: 3, name: 'c' },
]

/** An upstream whose answers a test holds back. */
export interface HoldingUpstream {
  readonly raw: RawUpstream
  /** Returns the number of calls that wait. */
  held(): number
  release(): void
}

/** An upstream with two tools. Calls with the text `hold` wait until they are released. */
export async function anUpstream(): Promise<HoldingUpstream> {
  const raw = await rawUpstream({
    tools: ['echo', 'other'].map((name) => rawTool(name, { inputSchema })),
  })
  const held: (() => void)[] = []
  const answer = textResult(JSON.stringify({ rows }), { structuredContent: { rows } })
  raw.respond = ({ id, params }, response) => {
    if ((params['arguments'] as { text?: unknown } | undefined)?.text !== 'hold') return answer
    held.push(() => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answer }))
    })
    return undefined
  }
  return {
    raw,
    held: () => held.length,
    release() {
      for (const each of held.splice(0)) each()
    },
  }
}

export interface RulesHost {
  readonly host: Host
  readonly gateway: Gateway
  /** The keys, by the name of their owner. */
  readonly keys: { readonly [name: string]: ApiKey }
  /** Connects as the owner of a key. */
  client(name: string, endpoint: string): Promise<Client>
}

/** The callers: ann of acme, also with a scope as `writer`, and bob of globex. */
const people = [
  ['ann', 'acme', []],
  ['writer', 'acme', ['write']],
  ['bob', 'globex', []],
] as const

export interface RulesSettings {
  readonly servers: { readonly [name: string]: ServerSettings }
  readonly [setting: string]: unknown
}

/** Writes the configuration that `settingsFor` returns for the keys, and serves it until the test ends. */
export async function serveRules(
  cwd: string,
  settingsFor: (keys: RulesHost['keys']) => RulesSettings,
): Promise<RulesHost> {
  const file = join(cwd, 'sluice.config.json')
  const write = (settings: object): void =>
    writeFileSync(file, JSON.stringify({ port: 0, console: null, data: join(cwd, '.sluice'), ...settings }))
  write({})
  const { config: empty } = await loadConfig({ file, cwd, env: {} })
  const setUp = await createHost(empty, { env: {}, logger, owner: 'you' })
  const admin = apiKeys(setUp.opened.store)
  const made = new Map<string, { readonly secret: string; readonly key: ApiKey }>()
  for (const [subject, tenant, scopes] of people)
    made.set(subject, await admin.create({ subject, tenants: [tenant], scopes: [...scopes] }))
  setUp.approvals.close()
  await setUp.opened.close()
  const keys = Object.fromEntries([...made].map(([name, { key }]) => [name, key]))
  write(settingsFor(keys))

  const { config } = await loadConfig({ file, cwd, env: {} })
  const host = await createHost(config, { env: {}, logger, owner: 'you' })
  const upstreams = await openUpstreams(config.servers ?? {}, config, { env: {}, file })
  if (!upstreams) throw new Error('no upstreams')
  const { serving } = await runServers(upstreams.named, host, config)
  onTestFinished(async () => {
    await serving.close()
    await host.opened.close()
  })
  return {
    ...{ host, gateway: upstreams.gateway, keys },
    client: (name, endpoint) =>
      clientOf(serving.urls[endpoint && `/${endpoint}`] ?? '', {}, token(made.get(name)?.secret ?? '')),
  }
}

/** Returns a server at an upstream with rules. */
export const behind = ({ url }: RawUpstream, ...rules: UpstreamRuleSettings[]): ServerSettings => ({ url, rules })
