/**
 * One server with two tenants and every feature. Every effect of a tenant answers with that tenant's canary for its
 * input. Both tenants use the same texts under the same ids, tokens and keys. So a misdirected answer, a cache without
 * a tenant or a joined key shows as a canary with the wrong tenant.
 */

import { createHmac } from 'node:crypto'
import type { LogLine, Server, Store } from 'sluice'
import {
  apiKeys,
  audit,
  authenticate,
  concurrency,
  defineServer,
  memoryStore,
  prompt,
  rateLimit,
  resource,
  tenants,
  tool,
} from 'sluice'
import { createServer, nodeClock } from 'sluice/node'
import { idempotency, log, metrics } from 'sluice/plugins'
import * as z from 'zod'
import { waitAtRandom } from './wait-at-random.ts'

export const tenantNames = ['ants', 'bees'] as const
export type TenantName = (typeof tenantNames)[number]

const canaries = new Map<string, string>()
/** No tenant can compute another's canary from its own. */
export function canaryOf(tenant: string, text: string): string {
  const name = `${tenant} ${text}`
  const known = canaries.get(name)
  if (known !== undefined) return known
  const canary = `K-${createHmac('sha256', tenant).update(text).digest('hex').slice(0, 24)}-K`
  canaries.set(name, canary)
  return canary
}
export const canariesIn = (text: string): readonly string[] => text.match(/K-[0-9a-f]{24}-K/g) ?? []

/** Both tenants subscribe to all of these; one changes the even ones, the other the odd ones. */
export const notes: readonly string[] = Array.from({ length: 20 }, (_, i) => `note://${i}`)
const changedBy = (tenant: string, text: string): string =>
  `note://${((Number(text) / 5) % notes.length) + (tenant === tenantNames[0] ? 0 : 1)}`
export const isNotifiedOf = (tenant: TenantName, uri: string): boolean =>
  Number(uri.slice('note://'.length)) % 2 === (tenant === tenantNames[0] ? 0 : 1)

/** A separate tool per tenant, whose name is a canary. */
export const ownTool = (tenant: string): string => `only_${canaryOf(tenant, 'tool')}`

const input = z.object({ text: z.string() })
/** The speed of the machine is not part of this test. */
const timeoutMs = 3_600_000
const define = () =>
  defineServer({
    name: 'shared',
    version: '1',
    tools: [
      tool({
        name: 'work',
        timeoutMs,
        description: 'Returns the tenant’s own canary and the value that the tenant stored before',
        input,
        async run({ text }, { call, store, progress, log: say, resourceUpdated }) {
          const { id } = call.tenant
          const mine = canaryOf(id, text)
          await waitAtRandom()
          progress(1, 2, mine)
          const kept = await store.get(['kept', text])
          await store.set(['kept', text], mine)
          await waitAtRandom()
          say('warning', mine)
          if (Number(text) % 10 === 0) resourceUpdated(changedBy(id, text))
          progress(2, 2, mine)
          return { mine, kept }
        },
      }),
      tool({
        name: 'fails',
        timeoutMs,
        description: 'Refuses with the tenant’s own canary',
        input,
        async run({ text }, { call }) {
          await waitAtRandom()
          return { content: [{ type: 'text', text: canaryOf(call.tenant.id, text) }], isError: true }
        },
      }),
      ...tenantNames.map((id) =>
        tool({ name: ownTool(id), description: 'Of one tenant alone', input, run: () => canaryOf(id, 'tool') }),
      ),
    ],
    prompts: [
      prompt({
        name: 'say',
        timeoutMs,
        description: 'Returns the tenant’s own canary',
        input,
        async run({ text }, { call }) {
          await waitAtRandom()
          return canaryOf(call.tenant.id, text)
        },
      }),
    ],
    resources: [
      resource({
        uri: 'note://{text}',
        name: 'note',
        timeoutMs,
        async read({ text }, { call }) {
          await waitAtRandom()
          return canaryOf(call.tenant.id, String(text))
        },
      }),
    ],
  })

export interface TwoTenants {
  readonly server: Server
  readonly store: Store
  /** The credential of one member of each tenant; both have the same name. */
  readonly tokens: { readonly [tenant in TenantName]: string }
  /** Describes log lines of one tenant that contain another's canary. */
  readonly leakedLines: readonly string[]
}

/** `audited` fills the store for as long as the server runs. */
export async function createTwoTenants({ store = memoryStore(nodeClock), audited = false } = {}): Promise<TwoTenants> {
  const keys = apiKeys(store)
  const tokenOf = async (tenant: TenantName): Promise<string> =>
    (await keys.create({ subject: 'ann', tenants: [tenant], expires: Date.now() + 86_400_000 })).secret
  const tokens = { ants: await tokenOf('ants'), bees: await tokenOf('bees') }
  const strayLines: string[] = []
  const own = new Map(tenantNames.map((id) => [id as string, new Set(['work', 'fails', ownTool(id)])]))
  const look = (line: LogLine): void => {
    const text = JSON.stringify(line)
    for (const canary of canariesIn(text))
      if (canary !== canaryOf(String(line['tenant']), 'tool')) strayLines.push(`in the log: ${text.slice(0, 300)}`)
  }
  const endless = { burst: 1e9, perSecond: 1e9 }
  const server = createServer(define(), {
    store,
    clock: nodeClock,
    secret: 'a secret of at least thirty-two characters',
    use: [
      tenants({ claim: 'tenants', tools: (id) => own.get(id ?? '') ?? new Set() }),
      log({ info: look, warn: look, error: look }),
      authenticate({ verifiers: [keys] }),
      rateLimit(endless),
      concurrency({ perTenant: 10_000, queue: 10_000 }),
      idempotency(),
      metrics(),
      audited && audit(),
    ],
  })
  return { server, store, tokens, leakedLines: strayLines }
}
