/** A server with gated tools, its console and people who use it: what every test here begins with. */

import { request } from 'node:http'
import type { Clock, Server, ServerDefinition, Store } from 'sluice'
import {
  apiKeys,
  ask,
  audit,
  authenticate,
  concurrency,
  defineServer,
  fail,
  limit,
  memoryStore,
  once,
  tenant,
  tool,
} from 'sluice'
import type { WebhookOptions } from 'sluice/approvals'
import { approvals } from 'sluice/approvals'
import type { Console, ConsoleServing, ListenOptions } from 'sluice/console'
import { createConsole } from 'sluice/console'
import { createServer } from 'sluice/node'
import * as z from 'zod'

/** Real time, which a test can leap over. */
export interface LeapingClock extends Clock {
  leap(ms: number): void
  /** From now on each look at it takes so long. */
  tickBy(ms: number): void
}
export function leapingClock(): LeapingClock {
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
    leap: (ms) => {
      offset += ms
    },
    tickBy: (ms) => {
      tick = ms
    },
  }
}

export const shop = defineServer({
  info: { name: 'shop', version: '1.2.3', title: 'The shop', description: 'Orders and refunds' },
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
export const stuck = defineServer({
  info: { name: 'stuck', version: '1' },
  tools: [
    tool({
      name: 'refund',
      description: 'Never ends',
      input: z.object({ order: z.string() }),
      approval: 'always',
      stateless: true,
      // Longer than any test takes: only a clock that leaps comes past it.
      timeoutMs: 4 * 60_000,
      run: (_, { signal }) => new Promise<string>((_resolve, reject) => signal.addEventListener('abort', reject)),
    }),
  ],
})

export interface House {
  readonly url: string
  readonly store: Store
  readonly clock: LeapingClock
  readonly panel: Console
  readonly serving: ConsoleServing
  readonly server: Server
  readonly desk: ReturnType<typeof approvals>
  /** The secret of a new caller's key. */
  agent(subject?: string, tenants?: readonly string[]): Promise<string>
  /** A call of a tool with such a key; the result, or the error. */
  call(secret: string, name: string, args: object, client?: string, on?: string): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export interface HouseOptions extends ListenOptions {
  readonly definition?: ServerDefinition
  /** Further servers that share the console. */
  readonly also?: readonly ServerDefinition[]
  readonly maxPending?: number
  readonly webhook?: WebhookOptions
}

export async function openHouse({
  definition = shop,
  also = [],
  maxPending,
  webhook,
  ...options
}: HouseOptions = {}): Promise<House> {
  const clock = leapingClock()
  const store = memoryStore(clock)
  const keys = apiKeys(store, { clock })
  const desk = approvals({
    ...(maxPending !== undefined && { maxPending }),
    ...(webhook && { webhook }),
    url: () => panel.url,
    grants: { maxMs: 86_400_000 },
  })
  const panel: Console = createConsole({ store, desk, clock })
  const serve = (each: ServerDefinition): Server =>
    createServer(each, {
      store,
      clock,
      ask: ask(),
      once: once(),
      audit: audit(),
      approvals: desk,
      authenticate: authenticate({ verifiers: [keys] }),
      tenant: tenant({ from: 'tenants' }),
      limit: limit({ rate: { capacity: 100_000, perSecond: 100_000 } }),
      concurrency: concurrency(),
      console: panel.watch,
    })
  const server = serve(definition)
  const others = new Map(also.map((each) => [each.info.name, serve(each)]))
  const serving = await panel.listen({ port: 0, ...options })
  return {
    url: serving.url,
    ...{ store, clock, panel, serving, server, desk },
    async agent(subject = 'agent', tenants = ['acme']) {
      const { secret } = await keys.create({ subject, tenants, scopes: ['refund:write'], label: 'laptop' })
      return secret
    },
    async call(secret, name, args, client = 'test', on = '') {
      const message = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: {
          name,
          arguments: args,
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
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
    },
    async close() {
      await serving.close()
      for (const each of [server, ...others.values()]) await each.close()
    },
  }
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly body: Record<string, unknown>
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Below fetch, which would not let a test lie about Host, Origin or cookies. */
export function send(url: string, path: string, { method = 'GET', headers = {}, body }: Sent = {}): Promise<Reply> {
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

/** A browser as far as the API is concerned: it keeps the cookie, says where it comes from, and repeats the token. */
export interface Visitor {
  readonly cookie: string
  get(path: string): Promise<Reply>
  post(path: string, body?: unknown): Promise<Reply>
  readonly headers: Record<string, string>
}

export async function signIn(house: Pick<House, 'url'>, proof: { link?: string; key?: string }): Promise<Visitor> {
  const origin = new URL(house.url).origin
  const entered = await send(house.url, 'api/session', { method: 'POST', headers: { origin }, body: proof })
  if (entered.status !== 200) throw new Error(`${entered.status} ${entered.text}`)
  let cookie = cookieOf(entered)
  const headers: Record<string, string> = { origin, cookie, 'x-csrf-token': String(entered.body['csrf']) }
  const heard = (reply: Reply): Reply => {
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
    get: async (path) => heard(await send(house.url, path, { headers: { cookie } })),
    post: async (path, body = {}) => heard(await send(house.url, path, { method: 'POST', headers, body })),
  }
}

export const cookieOf = ({ headers }: Reply): string => String(headers['set-cookie']).split(';')[0] ?? ''

/** The owner, by a link. */
export async function owner(house: House): Promise<Visitor> {
  return signIn(house, { link: linkToken(await house.panel.link()) })
}
export const linkToken = (link: string): string => link.split('/').at(-1) ?? ''
