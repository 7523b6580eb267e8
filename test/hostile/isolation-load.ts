/** Two tenants on every transport of one server at once, with the same ids, texts, tokens and keys. */

import type { Params } from 'sluice'
import type { TransportClient } from '../kit/clients/every-transport.client.ts'
import { openEveryTransport } from '../kit/clients/every-transport.client.ts'
import type { TenantName, TwoTenants } from '../kit/servers/two-tenants.fixture.ts'
import { canariesIn, canaryOf, isNotifiedOf, notes, ownTool, tenantNames } from '../kit/servers/two-tenants.fixture.ts'

export interface HammerReport {
  answers: number
  /** Own canaries of the tenant in answers and notifications. */
  canaries: number
  /** Notifications of changed resources. */
  changes: number
  /** Violations as sentences: a byte of the other tenant, an answer of another call, a call without an answer. */
  readonly problems: string[]
}

interface HammeringClient {
  readonly tenant: TenantName
  readonly way: string
  readonly client: TransportClient
}

/** Concurrent calls of one client. A batch may contain at most a hundred. */
const perBatch = 40
/** After this many the ids start again. */
const ids = 400

/** Continues until this many answers were checked. */
export async function hammer(
  world: TwoTenants,
  answers: number,
  say: (line: string) => void = () => {},
): Promise<HammerReport> {
  const { clients, close } = await openEveryTransport(world.server)
  const tally: HammerReport = { answers: 0, canaries: 0, changes: 0, problems: [] }
  const all: HammeringClient[] = []
  for (const { name: way, open } of clients)
    for (const tenant of tenantNames) all.push({ tenant, way, client: await open(world.tokens[tenant]) })
  try {
    await Promise.all(all.map((each) => subscribe(each, tally)))
    let told = 0
    for (let round = 0; tally.answers < answers && tally.problems.length < 100; round++) {
      await Promise.all(all.map((each) => sendBatch(each, (round * perBatch) % ids, tally)))
      for (const each of all) for (const message of each.client.takeNotifications()) checkMessage(each, message, tally)
      if (tally.answers - told < 100_000) continue
      told = tally.answers
      say(`isolation: ${told.toLocaleString('en')} answers`)
    }
  } finally {
    for (const { client } of all) client.close()
    await close()
  }
  tally.problems.push(...world.leakedLines)
  return tally
}

/**
 * The same notes for both tenants. On a stateless transport the subscription is a stream, and would be a batch that
 * never ends.
 */
async function subscribe({ client, way, tenant }: HammeringClient, tally: HammerReport): Promise<void> {
  if (client.subscribe) return client.subscribe()
  const received = await client.sendAll(notes.map((uri, id) => client.toRequest(id, 'resources/subscribe', { uri })))
  for (const message of received)
    if (!('result' in message)) tally.problems.push(`${way}, ${tenant}: not subscribed: ${JSON.stringify(message)}`)
}

async function sendBatch(each: HammeringClient, from: number, tally: HammerReport): Promise<void> {
  const { client, tenant, way } = each
  const sent = Array.from({ length: perBatch }, (_, index) => messageOf(from + index, tenant, client.toRequest))
  const received = await client.sendAll(sent)
  const answered = new Set<unknown>()
  for (const message of received) {
    checkMessage(each, message, tally)
    if ('method' in message) continue
    if (answered.has(message['id'])) tally.problems.push(`${way}, ${tenant}: ${String(message['id'])} answered twice`)
    answered.add(message['id'])
    tally.answers++
  }
  if (answered.size !== sent.length) tally.problems.push(`${way}, ${tenant}: ${sent.length - answered.size} unanswered`)
}

/** The same for both tenants, except for the one tool that only each of them has. */
function messageOf(id: number, tenant: TenantName, make: TransportClient['toRequest']): Params {
  const text = String(id)
  const other = tenant === tenantNames[0] ? tenantNames[1] : tenantNames[0]
  if (id % 8 === 3) return make(id, 'resources/read', { uri: `note://${id}` })
  if (id % 8 === 5) return make(id, 'prompts/get', { name: 'say', arguments: { text } })
  if (id % 40 === 9) return make(id, 'tools/list')
  if (id % 40 === 19) return make(id, 'tools/call', { name: ownTool(tenant), arguments: { text } })
  if (id % 40 === 29) return make(id, 'tools/call', { name: ownTool(other), arguments: { text } })
  return make(id, 'tools/call', {
    name: id % 8 === 1 ? 'fails' : 'work',
    arguments: { text },
    _meta: {
      ...(id % 3 !== 0 && { progressToken: id, 'io.modelcontextprotocol/logLevel': 'info' }),
      ...(id % 8 === 6 && { 'dev.sluice/idempotencyKey': `key-${id}` }),
    },
  })
}

/** What a tenant may receive, message by message: its own canary of this call, and nothing of the other tenant. */
function checkMessage({ tenant, way }: HammeringClient, message: Params, tally: HammerReport): void {
  const wrong = (what: string): void => {
    tally.problems.push(`${way}, ${tenant}: ${what}: ${JSON.stringify(message).slice(0, 300)}`)
  }
  const { method, params } = message as { readonly method?: string; readonly params?: Params }
  if (method === 'notifications/resources/updated') {
    tally.changes++
    if (!isNotifiedOf(tenant, String(params?.['uri']))) wrong('a change of another')
    return
  }
  const id = method === 'notifications/progress' ? params?.['progressToken'] : message['id']
  const text = JSON.stringify(message)
  const canaries = canariesIn(text)
  const known = new Set([canaryOf(tenant, String(id)), canaryOf(tenant, 'tool')])
  for (const canary of canaries) {
    // This call sent the other's tool name itself, so it may come back in its refusal only.
    const asked = Number(id) % 40 === 29 && text.includes(`Unknown tool: only_${canary}`)
    if (known.has(canary) || (method === 'notifications/message' && isOf(tenant, canary))) tally.canaries++
    else if (!asked) wrong('a canary of another')
  }
  if (method === undefined && canaries.length === 0) wrong('no canary')
}

const ownCanaries = new Map<TenantName, ReadonlySet<string>>(
  tenantNames.map((tenant) => [tenant, new Set(Array.from({ length: ids }, (_, id) => canaryOf(tenant, String(id))))]),
)
const isOf = (tenant: TenantName, canary: string): boolean => ownCanaries.get(tenant)?.has(canary) ?? false
