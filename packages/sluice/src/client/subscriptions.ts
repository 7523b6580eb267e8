/**
 * News of a server: changed lists, updated resources, tasks. 2026-07-28 has a stream per subscription; earlier revisions
 * have `resources/subscribe` and send changes of lists without being asked. A stream that breaks is opened again, and
 * the subscriber is told, because changes in between are lost.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/subscriptions
 */

import type { Clock } from '../core/clock.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { ClientError, ServerError } from './errors.ts'

/** The notifications a subscriber wants. */
export interface SubscriptionFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  /** URIs of resources whose updates are wanted. */
  readonly resourceSubscriptions?: readonly string[]
  /** Tasks whose states are wanted. Needs the tasks extension. */
  readonly taskIds?: readonly string[]
}

/** A subscription that is open. */
export interface Subscription {
  /** The notifications the server promised to send, a subset of the filter. */
  readonly accepted: Params
  close(): Promise<void>
}

/** Receives the notifications of a subscription. */
export interface SubscriptionListener {
  notification(method: string, params: Params): void
  /** The stream broke and is open again. Changes in between were missed. */
  reopened?(): void
  /** The subscription ended and is not opened again: by the server, or because of an error. */
  ended?(error: Error | undefined): void
}

export interface ListenDeps {
  /** Sends `subscriptions/listen`; resolves when the server ends it. */
  listen(
    filter: SubscriptionFilter,
    signal: AbortSignal,
    notification: (method: string, params: Params) => void,
  ): Promise<Params>
  readonly clock: Clock
  /** Whether the connection ended, so that the stream cannot be opened again. */
  isClosed(): boolean
}

const firstDelayMs = 1000
const maxDelayMs = 30_000
const maxAcknowledgeMs = 30_000

/** Opens a subscription of 2026-07-28. Resolves when the server acknowledged it. */
export function listen(
  filter: SubscriptionFilter,
  listener: SubscriptionListener,
  deps: ListenDeps,
): Promise<Subscription> {
  const controller = new AbortController()
  const { signal } = controller
  return new Promise((resolve, reject) => {
    let accepted: Params | undefined
    let delayMs = firstDelayMs
    const cancelTimer = deps.clock.after(maxAcknowledgeMs, () => {
      if (accepted) return
      controller.abort()
      reject(new ClientError('timeout', 'The server did not acknowledge the subscription'))
    })
    function notification(method: string, params: Params): void {
      if (method !== 'notifications/subscriptions/acknowledged') {
        if (accepted) listener.notification(method, params)
        return
      }
      delayMs = firstDelayMs
      if (accepted) {
        listener.reopened?.()
        return
      }
      cancelTimer()
      accepted = isObject(params['notifications']) ? params['notifications'] : {}
      resolve({
        accepted,
        close() {
          controller.abort()
          return Promise.resolve()
        },
      })
    }
    async function follow(): Promise<void> {
      while (!signal.aborted) {
        try {
          await deps.listen(filter, signal, notification)
          cancelTimer()
          if (!accepted) return reject(new ClientError('protocol', 'The server ended the subscription unacknowledged'))
          return listener.ended?.(undefined)
        } catch (thrown) {
          if (signal.aborted) return
          const error = thrown instanceof Error ? thrown : new ClientError('closed', 'The subscription failed')
          if (!accepted || deps.isClosed() || !isTransient(error)) {
            cancelTimer()
            controller.abort()
            reject(error)
            return listener.ended?.(error)
          }
        }
        await delay(delayMs, signal, deps.clock)
        delayMs = Math.min(delayMs * 2, maxDelayMs)
      }
    }
    follow().catch((thrown: unknown) => reject(thrown))
  })
}

const isTransient = (error: Error): boolean =>
  error instanceof ServerError
    ? error.status !== undefined && error.status >= 500
    : error instanceof ClientError &&
      (error.reason === 'closed' || error.reason === 'unreachable' || (error.status ?? 0) >= 500)

/** Waits, or returns early when the signal ends. */
export const delay = (ms: number, signal: AbortSignal | undefined, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    const cancelTimer = clock.after(ms, done)
    function done(): void {
      cancelTimer()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    if (signal?.aborted) done()
    else signal?.addEventListener('abort', done, { once: true })
  })
