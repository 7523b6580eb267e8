/**
 * Notifies another program (a chat, a pager) of new tickets, and accepts decisions from it. Notifications stay in the
 * store until they are delivered, so that they survive the process that made the ticket.
 */

import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import { isSafeUrl } from '../../core/loopback.ts'
import type { Key, Store } from '../../core/store.ts'
import type { Decider } from '../decide.ts'
import type { ApprovalsService } from '../service.ts'
import type { Proposal, TicketView } from '../ticket.ts'
import type { WebhookFormat } from './formats.ts'
import { checkFormat, toWebhookRequest } from './formats.ts'
import type { HeaderLookup, WebhookSigner } from './signature.ts'
import { createWebhookSigner } from './signature.ts'

/** Notifies another program of new tickets and accepts decisions from it. Both directions are signed. */
export interface WebhookOptions {
  /** The URL that receives new tickets by POST. It must be https or a loopback address. */
  readonly url: string
  /** The body: our own (`json`, the default), or what Slack, Microsoft Teams or ntfy takes. */
  readonly format?: WebhookFormat
  /**
   * Signs outgoing messages and verifies incoming ones. Give two during a rotation. A chat checks no signature, so with
   * its format the secret may be absent; then no decisions come back.
   */
  readonly secret?: string | readonly string[]
  /** Replaces the HTTP request, for tests and for outgoing proxies. */
  readonly post?: WebhookPost
}
/** Sends a POST request and resolves with the status. `signal` aborts it. */
export type WebhookPost = (
  url: string,
  headers: { readonly [name: string]: string },
  body: string,
  signal: AbortSignal,
) => Promise<number>

export interface Webhook {
  /** Queues the notification of a new ticket. It is stored before this resolves. */
  enqueue(proposal: Proposal): Promise<void>
  /** Starts delivery, also of notifications that other processes left behind. */
  start(): void
  /** Accepts a signed decision. Throws `unauthorized` if the signature is invalid, and any error of `decide`. */
  handleWebhook(header: HeaderLookup, body: string): ReturnType<ApprovalsService['decide']>
  /** Whether decisions are accepted, because a secret proves who sent them. */
  readonly acceptsDecisions: boolean
  close(): void
}

export interface WebhookDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly approvals: Pick<ApprovalsService, 'get' | 'decide' | 'watch'>
  /** The time a person has to decide. Undelivered notifications expire after it. */
  readonly decideMs: number
}

interface OutboxEntry {
  readonly attempts: number
  readonly at: number
}

const firstRetryMs = 5_000
const maxRetryMs = 60_000
/** The timeout of one request. The receiver should answer first and do its work later. */
const requestTimeoutMs = 10_000
const batchSize = 100
const root: Key = ['approvals', 'outbox']

export function createWebhook(
  { url, format = 'json', secret, post = postByFetch }: WebhookOptions,
  deps: WebhookDeps,
): Webhook {
  const { store, clock, logger, approvals, decideMs } = deps
  checkUrl(url)
  checkFormat(format, url)
  const signer: WebhookSigner | undefined =
    secret === undefined && format !== 'json' ? undefined : createWebhookSigner(secret ?? [], clock)
  let cancelTimer: (() => void) | undefined
  let wakeAt = Number.POSITIVE_INFINITY
  let unsubscribe: (() => void) | undefined
  let closed = false

  /** Schedules delivery at the earliest requested time. */
  function wake(inMs: number): void {
    const at = clock.now() + inMs
    if (closed || at >= wakeAt) return
    cancelTimer?.()
    wakeAt = at
    cancelTimer = clock.after(inMs, () => {
      wakeAt = Number.POSITIVE_INFINITY
      // It has logged the cause, and the next ticket wakes it again.
      pump().catch(() => {})
    })
  }
  function start(): void {
    if (unsubscribe || closed) return
    // If the process that made a ticket dies before it delivers, this process delivers.
    unsubscribe = approvals.watch(({ status }) => {
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
  /** Delivers an entry and resolves with the time of the next attempt. */
  async function processEntry(key: Key, value: string): Promise<number> {
    const entry = JSON.parse(value) as OutboxEntry
    if (entry.at > clock.now()) return entry.at
    const retryAt = clock.now() + Math.min(maxRetryMs, firstRetryMs * 2 ** entry.attempts)
    const taken: OutboxEntry = { attempts: entry.attempts + 1, at: retryAt }
    // The process that wins the swap delivers. If it dies meanwhile, another one delivers at `retryAt`.
    if (!(await store.swap(key, value, JSON.stringify(taken), decideMs))) return clock.now() + firstRetryMs
    const id = key.at(-1) ?? ''
    const ticket = await approvals.get(id)
    if (ticket?.status === 'pending' && !(await deliver(ticket))) {
      logger.warn({ event: 'webhookFailed', ticket: id, attempts: taken.attempts })
      return retryAt
    }
    await store.delete(key)
    return Number.POSITIVE_INFINITY
  }
  async function deliver(ticket: TicketView): Promise<boolean> {
    const request = toWebhookRequest(format, url, ticket, clock.now())
    const controller = new AbortController()
    const cancelTimeout = clock.after(requestTimeoutMs, () => controller.abort())
    try {
      const signature = await signer?.sign(ticket.id, request.body)
      const headers = { 'content-type': 'application/json', ...signature }
      const status = await post(request.url, headers, request.body, controller.signal)
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
    acceptsDecisions: signer !== undefined,
    async handleWebhook(header, body) {
      if (!(await signer?.verify(header, body))) throw new RpcError('unauthorized', 'Invalid signature')
      const { id, by, ...decision } = parseDecision(body)
      const decider: Decider = { subject: by, via: 'webhook', tenants: 'all', operator: true }
      return approvals.decide(id, decision, decider)
    },
    close() {
      closed = true
      cancelTimer?.()
      unsubscribe?.()
    },
  }
}

function checkUrl(url: string): void {
  if (!isSafeUrl(url))
    throw new TypeError('webhook: "url" must be https, because messages contain the arguments of calls')
}

/** Parses a decision. Our own messages have another type, so that an echoed one decides nothing. */
function parseDecision(body: string): { id: string; by: string; approved: boolean; note?: string } {
  const invalid = (): RpcError =>
    new RpcError(
      'invalidParams',
      'Invalid decision: send { "type": "approval.decided", "data": { "id": …, "approved": true or false, "by": …, "note": … } }',
    )
  let message: unknown
  try {
    message = JSON.parse(body)
  } catch {
    throw invalid()
  }
  const data = isObject(message) && message['type'] === 'approval.decided' ? message['data'] : undefined
  if (!isObject(data)) throw invalid()
  const { id, by, approved, note } = data
  if (typeof id !== 'string' || typeof by !== 'string' || by === '' || typeof approved !== 'boolean') throw invalid()
  return { id, by, approved, ...(typeof note === 'string' && { note }) }
}

/** Does not follow redirects, because the message is for this address only. */
const postByFetch: WebhookPost = async (url, headers, body, signal) => {
  const { status } = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  return status
}
