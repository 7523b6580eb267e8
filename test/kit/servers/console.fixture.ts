/** A server with gated tools, its console and its users, for all console tests. */

import { request } from 'node:http'
import type { Console, ConsoleListenOptions, ConsoleOptions, ConsoleServing } from '@sluice/console'
import { createConsole } from '@sluice/console'
import type { Clock, Server, ServerDefinition, Store } from 'sluice'
import { apiKeys, authenticate, concurrency, defineServer, fail, memoryStore, rateLimit, tenants, tool } from 'sluice'
import type { Approvals, Rule, WebhookOptions } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { createServer } from 'sluice/node'
import type { RateLimitOptions } from 'sluice/plugins'
import { elicitation, idempotency, tasks } from 'sluice/plugins'
import * as z from 'zod'

/** Real time that a test can advance. */
export interface AdjustableClock extends Clock {
  advance(ms: number): void
  /** From now on each reading takes this long. */
  tickBy(ms: number): void
}
export function adjustableClock(): AdjustableClock {
  let [offset, tick] = [0, 0]
  return {
    now() {
      offset += tick
      return Date.now() + offset
    },
    after(ms, then) {
      const timer = setTimeout(then, ms)
      return () => clearTimeout(timer)
    },
    advance: (ms) => {
      offset += ms
    },
    tickBy: (ms) => {
      tick = ms
    },
  }
}

export const shopDefinition = defineServer({
  name: 'shop',
  version: '1.2.3',
  title: 'The shop',
  description: 'Orders and refunds',
  tools: [
    tool({
      name: 'refund',
      description: 'Pays money back to a customer',
      input: z.looseObject({ order: z.string(), cents: z.number().optional() }),
      annotations: { destructiveHint: true },
      scopes: ['refund:write'],
      approval: 'always',
      effect: ({ order }) => ({ Order: order.slice(0, 20) }),
      run: ({ order }) => `refunded ${order}`,
    }),
    tool({
      name: 'price',
      description: 'What an article costs',
      input: z.object({ article: z.string() }),
      annotations: { readOnlyHint: true },
      run: ({ article }) => ({ article, cents: article.length * 100 }),
    }),
    tool({
      name: 'break',
      description: 'Always fails',
      input: z.looseObject({ text: z.string().optional() }),
      run({ text }): string {
        throw text === undefined ? fail('Nothing can be done') : new Error(text)
      },
    }),
  ],
})

/** A server whose refunds never end by themselves. */
export const stuckDefinition = defineServer({
  name: 'stuck',
  version: '1',
  tools: [
    tool({
      name: 'refund',
      description: 'Never ends',
      input: z.object({ order: z.string() }),
      approval: 'always',
      stateless: true,
      // Longer than any test takes; only an advanced clock passes it.
      timeoutMs: 4 * 60_000,
      run: (_, { signal }) => new Promise<string>((_resolve, reject) => signal.addEventListener('abort', reject)),
    }),
  ],
})

export interface ConsoleFixture {
  readonly url: string
  readonly store: Store
  readonly clock: AdjustableClock
  readonly consoleApp: Console
  readonly serving: ConsoleServing
  readonly server: Server
  /** The further servers. */
  readonly others: readonly Server[]
  readonly approvals: Approvals
  /** As if the process had ended: its lease runs out, and is not renewed. */
  endLease(): void
  /** The secret of a new caller's key. */
  createAgentKey(subject?: string, tenants?: readonly string[], scopes?: readonly string[]): Promise<string>
  /** Calls a tool with such a key; returns the result or the error. */
  call(secret: string, name: string, args: object, client?: string, on?: string): Promise<Record<string, unknown>>
  /** The same by a client that knows tasks. */
  callAsTask(secret: string, name: string, args: object): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export interface ConsoleFixtureOptions
  extends ConsoleListenOptions,
    Pick<ConsoleOptions, 'gateway' | 'clients' | 'owner'> {
  readonly definition?: ServerDefinition
  /** Further servers that share the console. */
  readonly also?: readonly ServerDefinition[]
  readonly maxPending?: number
  readonly rules?: readonly Rule[]
  readonly webhook?: WebhookOptions
  readonly limit?: RateLimitOptions
  /** The store of another fixture, as if this one were another process. */
  readonly sharing?: Pick<ConsoleFixture, 'store' | 'clock'>
}

export async function openConsoleFixture({
  definition = shopDefinition,
  also = [],
  maxPending,
  rules,
  webhook,
  limit = { burst: 100_000, perSecond: 100_000 },
  sharing,
  gateway,
  clients,
  owner,
  ...options
}: ConsoleFixtureOptions = {}): Promise<ConsoleFixture> {
  const clock = sharing?.clock ?? adjustableClock()
  const memory = sharing?.store ?? memoryStore(clock)
  let hasLeases = true
  const isLease = ([, , area]: readonly string[]): boolean => area === 'process'
  const store: Store = {
    ...memory,
    set: async (key, value, ttlMs) => (hasLeases || !isLease(key) ? memory.set(key, value, ttlMs) : undefined),
  }
  const keys = apiKeys(store, { clock })
  const audit = createAudit({ store, clock })
  const approvals = createApprovals({
    ...{ store, clock, audit },
    ...(maxPending !== undefined && { maxPending }),
    ...(rules && { rules }),
    ...(webhook && { webhook }),
    url: () => consoleApp.url,
    grants: { maxMs: 86_400_000 },
  })
  const consoleApp: Console = createConsole({
    ...{ store, approvals, audit, clock },
    ...(gateway && { gateway }),
    ...(clients && { clients }),
    ...(owner !== undefined && { owner }),
  })
  const serve = (each: ServerDefinition): Server =>
    createServer(each, {
      store,
      clock,
      use: [
        elicitation(),
        idempotency(),
        audit,
        approvals,
        authenticate({ verifiers: [keys] }),
        tenants({ claim: 'tenants' }),
        rateLimit(limit),
        concurrency(),
        tasks(),
        consoleApp.watch,
      ],
    })
  const server = serve(definition)
  const others = new Map(also.map((each) => [each.name, serve(each)]))
  const serving = await consoleApp.listen({ port: 0, ...options })
  return {
    url: serving.url,
    ...{ store, clock, consoleApp, serving, server, others: [...others.values()], approvals },
    async createAgentKey(subject = 'agent', tenants = ['acme'], scopes = ['refund:write']) {
      const { secret } = await keys.create({ subject, tenants, scopes, label: 'laptop' })
      return secret
    },
    endLease() {
      hasLeases = false
      clock.advance(60_000)
    },
    call: (secret, name, args, client = 'test', on = '') => call(secret, name, args, {}, client, on),
    callAsTask: (secret, name, args) =>
      call(secret, name, args, { extensions: { 'io.modelcontextprotocol/tasks': {} } }, 'test', ''),
    async close() {
      await serving.close()
      for (const each of [server, ...others.values()]) await each.close()
    },
  }
  async function call(
    secret: string,
    name: string,
    args: object,
    capabilities: object,
    client: string,
    on: string,
  ): Promise<Record<string, unknown>> {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name,
        arguments: args,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
          'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
        },
      },
    }
    const header = (wanted: string): string | undefined =>
      wanted.toLowerCase() === 'authorization' ? `Bearer ${secret}` : undefined
    const answer = await (others.get(on) ?? server).handle(message, {
      via: { transport: 'memory', peer: 'test', header },
    })
    return { ...answer }
  }
}

export interface ConsoleResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface ConsoleRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Sends without fetch, which would not let a test forge Host, Origin or cookies. */
export function send(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body }: ConsoleRequest = {},
): Promise<ConsoleResponse> {
  const text = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, url),
      {
        method,
        headers: { ...(text !== undefined && { 'content-type': 'application/json' }), ...headers },
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const all = Buffer.concat(chunks).toString('utf8')
          const isJson = response.headers['content-type'] === 'application/json'
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, headers: received, text: all, body: isJson ? JSON.parse(all) : {} })
        })
      },
    )
    sent.on('error', reject)
    sent.end(text)
  })
}

/** A browser from the API's view: it keeps the cookie, sends its origin, and repeats the token. */
export interface BrowserSession {
  readonly cookie: string
  get(path: string): Promise<ConsoleResponse>
  post(path: string, body?: unknown): Promise<ConsoleResponse>
  readonly headers: Record<string, string>
}

export async function signIn(
  consoleFixture: Pick<ConsoleFixture, 'url'>,
  proof: { link?: string; key?: string },
): Promise<BrowserSession> {
  const origin = new URL(consoleFixture.url).origin
  const entered = await send(consoleFixture.url, 'api/session', { method: 'POST', headers: { origin }, body: proof })
  if (entered.status !== 200) throw new Error(`${entered.status} ${entered.text}`)
  let cookie = cookieOf(entered)
  const headers: Record<string, string> = { origin, cookie, 'x-csrf-token': String(entered.body['csrf']) }
  const heard = (reply: ConsoleResponse): ConsoleResponse => {
    if (reply.headers['set-cookie']) {
      cookie = cookieOf(reply)
      headers['cookie'] = cookie
    }
    return reply
  }
  return {
    get cookie() {
      return cookie
    },
    headers,
    get: async (path) => heard(await send(consoleFixture.url, path, { headers: { cookie } })),
    post: async (path, body = {}) => heard(await send(consoleFixture.url, path, { method: 'POST', headers, body })),
  }
}

export const cookieOf = ({ headers }: ConsoleResponse): string => String(headers['set-cookie']).split(';')[0] ?? ''

/** Signs in as the owner, by a link. */
export async function signInAsOwner(consoleFixture: ConsoleFixture): Promise<BrowserSession> {
  return signIn(consoleFixture, { link: linkToken(await consoleFixture.consoleApp.link()) })
}
export const linkToken = (link: string): string => link.split('/').at(-1) ?? ''
