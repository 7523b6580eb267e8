/**
 * A server with one gated tool whose effects are lines in a file, on a store that processes share, for the races and
 * crashes. Programs start with it, so it imports the built library.
 */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Params, Server, Store } from 'sluice'
import { defineServer, memoryStore, tool } from 'sluice'
import type { Approvals, Decider } from 'sluice/approvals'
import { approvalArguments, createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { idempotency, log } from 'sluice/plugins'
import { postgresStore } from 'sluice/postgres'
import { redisStore } from 'sluice/redis'
import { sqliteStore } from 'sluice/sqlite'
import { z } from 'zod'

export const cashier: Decider = { subject: 'olga', via: 'command', tenants: 'all', operator: true }

/** `memory`, `sqlite` (a file in the folder), or the URL of a Redis or a PostgreSQL, whose `#name` is the schema. */
export type StoreKind = string

export type OpenStore = Store & { close?(): Promise<void> }
export const openStore = (kind: StoreKind, folder: string): OpenStore => {
  if (kind === 'memory') return memoryStore()
  if (kind === 'sqlite') return sqliteStore(join(folder, 'tickets.db'))
  const [url = '', schema = 'sluice'] = kind.split('#')
  return url.startsWith('postgresql:')
    ? postgresStore({ url, schema, deadlineMs: 30_000 })
    : redisStore({ url, deadlineMs: 30_000 })
}

/** Thousands of calls would each log a line. */
const silent = { info() {}, warn() {}, error() {} }

/** Ends the leases of all processes, as if their time had passed. */
export async function endLeases(store: Store): Promise<void> {
  for (const { key } of await store.list(['server', 'till', 'process'], { limit: 1000 })) await store.delete(key)
}

export interface PaymentServer {
  readonly approvals: Approvals
  readonly server: Server
  /** Names the ticket if there is an id; otherwise it is found by its binding. */
  pay(amount: number, id?: string): Promise<Answer>
}
export interface Answer {
  readonly text?: string
  /** The ticket that must be approved first. */
  readonly required?: string
  readonly reason?: string
  readonly state?: string
}

export interface PaymentServerOptions {
  readonly folder: string
  readonly clock?: Clock
  readonly maxPending?: number
  /** Called before and after each effect. */
  readonly at?: (point: string) => void
}

export function openPaymentServer(
  store: Store,
  { folder, clock, maxPending = 100_000, at = () => {} }: PaymentServerOptions,
): PaymentServer {
  const desk = createApprovals({ store, ...(clock && { clock }), maxPending })
  const pay = tool({
    name: 'pay',
    description: 'Pays',
    input: z.object({ amount: z.number() }),
    approval: 'always',
    stateless: true,
    approvalArguments,
    run({ amount }) {
      at('before effect')
      appendFileSync(join(folder, 'effects'), `${amount}\n`)
      at('after effect')
      return `paid ${amount} by ${process.pid}`
    },
  })
  const server = createServer(defineServer({ name: 'till', version: '1', tools: [pay] }), {
    store,
    ...(clock && { clock }),
    secret: 'a secret that all processes share',
    use: [log(silent), desk, idempotency()],
  })
  let ids = 0
  return {
    approvals: desk,
    server,
    async pay(amount, id) {
      const args = { amount, ...(id !== undefined && { approval_request_id: id, approved: true }) }
      const params = { name: 'pay', arguments: args }
      return toAnswer({ ...(await server.handle({ jsonrpc: '2.0', id: ++ids, method: 'tools/call', params })) })
    },
  }
}

function toAnswer({ result, error }: Params): Answer {
  if (error) {
    const { reason, state } = (error as { data: { reason: string; state?: string } }).data
    return { reason, ...(state !== undefined && { state }) }
  }
  const text = (result as { content: readonly { text: string }[] }).content[0]?.text ?? ''
  if (!text.startsWith('{')) return { text }
  return { required: (JSON.parse(text) as { request_id: string }).request_id }
}

/** Returns how often each amount was paid. */
export function effectsIn(folder: string): ReadonlyMap<number, number> {
  const path = join(folder, 'effects')
  const counts = new Map<number, number>()
  for (const line of existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [])
    if (line !== '') counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1)
  return counts
}
