/** Two tenants on every way into one server at once, with the same ids, texts, tokens and keys. */

import type { Params } from 'sluice'
import type { Client } from './isolation-ways.ts'
import { openWays } from './isolation-ways.ts'
import type { TenantName, World } from './isolation-world.ts'
import { canariesIn, canaryOf, mayHearOf, notes, ownTool, tenants } from './isolation-world.ts'

export interface Tally {
  answers: number
  /** Of the tenant's own, in answers and notifications. */
  canaries: number
  /** Notifications of changed resources. */
  changes: number
  /** Sentences: a byte of the other tenant, an answer that is not this call's, a call without one. */
  readonly lost: string[]
}

interface Hammering {
  readonly tenant: TenantName
  readonly way: string
  readonly client: Client
}

/** Calls of one client under way at once. A batch may hold no more than a hundred. */
const perHeap = 40
/** After this many the ids begin again. */
const ids = 400

/** Goes on until so many answers have been looked at. */
export async function hammer(world: World, answers: number, say: (line: string) => void = () => {}): Promise<Tally> {
  const { ways, close } = await openWays(world.server)
  const tally: Tally = { answers: 0, canaries: 0, changes: 0, lost: [] }
  const all: Hammering[] = []
  for (const { name: way, open } of ways)
    for (const tenant of tenants) all.push({ tenant, way, client: await open(world.tokens[tenant]) })
  try {
    await Promise.all(all.map((each) => subscribe(each, tally)))
    let told = 0
    for (let round = 0; tally.answers < answers && tally.lost.length < 100; round++) {
      await Promise.all(all.map((each) => strike(each, (round * perHeap) % ids, tally)))
      for (const each of all) for (const message of each.client.unasked()) look(each, message, tally)
      if (tally.answers - told < 100_000) continue
      told = tally.answers
      say(`isolation: ${told.toLocaleString('en')} answers`)
    }
  } finally {
    for (const { client } of all) client.close()
    await close()
  }
  tally.lost.push(...world.strayLines)
  return tally
}

/** The same notes for everybody. On a stateless way the subscription is a stream, and would be a heap that never ends. */
async function subscribe({ client, way, tenant }: Hammering, tally: Tally): Promise<void> {
  if (client.listen) return client.listen()
  const heard = await client.heap(notes.map((uri, id) => client.make(id, 'resources/subscribe', { uri })))
  for (const message of heard)
    if (!('result' in message)) tally.lost.push(`${way}, ${tenant}: not subscribed: ${JSON.stringify(message)}`)
}

async function strike(each: Hammering, from: number, tally: Tally): Promise<void> {
  const { client, tenant, way } = each
  const sent = Array.from({ length: perHeap }, (_, index) => messageOf(from + index, tenant, client.make))
  const heard = await client.heap(sent)
  const answered = new Set<unknown>()
  for (const message of heard) {
    look(each, message, tally)
    if ('method' in message) continue
    if (answered.has(message['id'])) tally.lost.push(`${way}, ${tenant}: ${String(message['id'])} answered twice`)
    answered.add(message['id'])
    tally.answers++
  }
  if (answered.size !== sent.length) tally.lost.push(`${way}, ${tenant}: ${sent.length - answered.size} unanswered`)
}

/** Alike for both tenants but for the one tool that only each of them has, and the one only the other has. */
function messageOf(id: number, tenant: TenantName, make: Client['make']): Params {
  const text = String(id)
  const other = tenant === tenants[0] ? tenants[1] : tenants[0]
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

/** What a tenant may be told, message by message: its own canary of this very call, and nothing of anybody else's. */
function look({ tenant, way }: Hammering, message: Params, tally: Tally): void {
  const wrong = (what: string): void => {
    tally.lost.push(`${way}, ${tenant}: ${what}: ${JSON.stringify(message).slice(0, 300)}`)
  }
  const { method, params } = message as { readonly method?: string; readonly params?: Params }
  if (method === 'notifications/resources/updated') {
    tally.changes++
    if (!mayHearOf(tenant, String(params?.['uri']))) wrong('a change of another')
    return
  }
  const id = method === 'notifications/progress' ? params?.['progressToken'] : message['id']
  const text = JSON.stringify(message)
  const canaries = canariesIn(text)
  const known = new Set([canaryOf(tenant, String(id)), canaryOf(tenant, 'tool')])
  for (const canary of canaries) {
    // The other's tool by name is what this call itself sent, and comes back in its refusal only.
    const asked = Number(id) % 40 === 29 && text.includes(`Unknown tool: only_${canary}`)
    if (known.has(canary) || (method === 'notifications/message' && isOf(tenant, canary))) tally.canaries++
    else if (!asked) wrong('a canary of another')
  }
  if (method === undefined && canaries.length === 0) wrong('no canary')
}

const own = new Map<TenantName, ReadonlySet<string>>(
  tenants.map((tenant) => [tenant, new Set(Array.from({ length: ids }, (_, id) => canaryOf(tenant, String(id))))]),
)
const isOf = (tenant: TenantName, canary: string): boolean => own.get(tenant)?.has(canary) ?? false
