/**
 * Tells another program (a chat, a pager) of new tickets, and takes its people's decisions back. What is to be told lies
 * in the store until the other end has it: it is not lost with the process that made the ticket.
 */

import type { Clock } from '../core/clock.ts'
import { RpcError } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { isSafeUrl } from '../core/loopback.ts'
import type { Key, Store } from '../core/store.ts'
import type { Decider } from './decide.ts'
import type { ApprovalsService } from './service.ts'
import type { HeaderLookup, WebhookSigner } from './signature.ts'
import { createWebhookSigner } from './signature.ts'
import type { Proposal } from './ticket.ts'

/** Tells another program of new tickets and takes its decisions, signed both ways. */
export interface WebhookOptions {
  /** Where new tickets are told, by POST. https, or this machine. */
  readonly url: string
  /** Signs what is sent and checks what comes back. Two while rotating. */
  readonly secret: string | readonly string[]
  /** For tests, and where requests leave through a proxy. */
  readonly post?: WebhookPost
}
/** Resolves with the status. `signal` ends it. */
export type WebhookPost = (
  url: string,
  headers: { readonly [name: string]: string },
  body: string,
  signal: AbortSignal,
) => Promise<number>

export interface Webhook {
  /** Kept in the store before this resolves. */
  enqueue(proposal: Proposal): Promise<void>
  /** Looks for what other processes left behind. */
  start(): void
  /** A signed decision. Throws `unauthorized` where the signature is not good, and whatever `decide` throws. */
  handleWebhook(header: HeaderLookup, body: string): ReturnType<ApprovalsService['decide']>
  close(): void
}

export interface WebhookDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly desk: Pick<ApprovalsService, 'get' | 'decide' | 'watch'>
  /** After that there is nothing left to decide. */
  readonly decideMs: number
}

interface OutboxEntry {
  readonly attempts: number
  readonly at: number
}

const firstRetryMs = 5_000
const maxRetryMs = 60_000
/** Per message. The other end should say yes and work later. */
const requestTimeoutMs = 10_000
const batchSize = 100
const root: Key = ['approvals', 'outbox']

export function createWebhook({ url, secret, post = postByFetch }: WebhookOptions, deps: WebhookDeps): Webhook {
  const { store, clock, logger, desk, decideMs } = deps
  checkUrl(url)
  const signer: WebhookSigner = createWebhookSigner(secret, clock)
  let cancelTimer: (() => void) | undefined
  let wakeAt = Number.POSITIVE_INFINITY
  let unsubscribe: (() => void) | undefined
  let closed = false

  /** At the earliest time anybody asked for. */
  function wake(inMs: number): void {
    const at = clock.now() + inMs
    if (closed || at >= wakeAt) return
    cancelTimer?.()
    wakeAt = at
    cancelTimer = clock.after(inMs, () => {
      wakeAt = Number.POSITIVE_INFINITY
      // It has logged why; the next ticket wakes it again.
      pump().catch(() => {})
    })
  }
  function start(): void {
    if (unsubscribe || closed) return
    // Another process made a ticket: if it dies before it told, somebody has to.
    unsubscribe = desk.watch(({ status }) => {
      if (status === 'pending') wake(firstRetryMs)
    })
    wake(0)
  }

  async function pump(): Promise<void> {
    try {
      const entries = await store.list(root, { limit: batchSize })
      const next = await Promise.all(entries.map(({ key, value }) => processEntry(key, value)))
      const soonest = Math.min(...next)
      if (soonest !== Number.POSITIVE_INFINITY) wake(Math.max(0, soonest - clock.now()))
    } catch (thrown) {
      logger.warn({ event: 'webhookStore', message: thrown instanceof Error ? thrown.message : '' })
      wake(firstRetryMs)
    }
  }
  /** Resolves with when to look again. */
  async function processEntry(key: Key, value: string): Promise<number> {
    const entry = JSON.parse(value) as OutboxEntry
    if (entry.at > clock.now()) return entry.at
    const retryAt = clock.now() + Math.min(maxRetryMs, firstRetryMs * 2 ** entry.attempts)
    const taken: OutboxEntry = { attempts: entry.attempts + 1, at: retryAt }
    // Whoever wins tells it; if that process dies meanwhile, the next one does so at `retryAt`.
    if (!(await store.swap(key, value, JSON.stringify(taken), decideMs))) return clock.now() + firstRetryMs
    const id = key.at(-1) ?? ''
    const ticket = await desk.get(id)
    if (
      ticket?.status === 'pending' &&
      !(await deliver(
        id,
        JSON.stringify({ type: 'approval.requested', timestamp: new Date(clock.now()).toISOString(), data: ticket }),
      ))
    ) {
      logger.warn({ event: 'webhookFailed', ticket: id, attempts: taken.attempts })
      return retryAt
    }
    await store.delete(key)
    return Number.POSITIVE_INFINITY
  }
  async function deliver(id: string, body: string): Promise<boolean> {
    const controller = new AbortController()
    const cancelTimeout = clock.after(requestTimeoutMs, () => controller.abort())
    try {
      const headers = { 'content-type': 'application/json', ...(await signer.sign(id, body)) }
      const status = await post(url, headers, body, controller.signal)
      return status >= 200 && status < 300
    } catch {
      return false
    } finally {
      cancelTimeout()
    }
  }

  return {
    async enqueue({ id }) {
      await store.set([...root, id], JSON.stringify({ attempts: 0, at: clock.now() } satisfies OutboxEntry), decideMs)
      start()
      wake(0)
    },
    start,
    async handleWebhook(header, body) {
      if (!(await signer.verify(header, body))) throw new RpcError('unauthorized', 'The signature is not good')
      const { id, by, ...decision } = parseDecision(body)
      const decider: Decider = { subject: by, via: 'webhook', tenants: 'all', operator: true }
      return desk.decide(id, decision, decider)
    },
    close() {
      closed = true
      cancelTimer?.()
      unsubscribe?.()
    },
  }
}

function checkUrl(url: string): void {
  if (!isSafeUrl(url)) throw new TypeError('webhook: its url must be https, since it carries the arguments of calls')
}

/** The message that we send has another type: sent back to us it decides nothing. */
function parseDecision(body: string): { id: string; by: string; approved: boolean; note?: string } {
  const bad = (): RpcError =>
    new RpcError(
      'invalidParams',
      'Send { "type": "approval.decided", "data": { "id": …, "approved": true or false, "by": who, "note": … } }',
    )
  let message: unknown
  try {
    message = JSON.parse(body)
  } catch {
    throw bad()
  }
  const data = isObject(message) && message['type'] === 'approval.decided' ? message['data'] : undefined
  if (!isObject(data)) throw bad()
  const { id, by, approved, note } = data
  if (typeof id !== 'string' || typeof by !== 'string' || by === '' || typeof approved !== 'boolean') throw bad()
  return { id, by, approved, ...(typeof note === 'string' && { note }) }
}

/** Nothing is followed elsewhere: what is sent is for this address. */
const postByFetch: WebhookPost = async (url, headers, body, signal) => {
  const { status } = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  return status
}
