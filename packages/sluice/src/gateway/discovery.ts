/**
 * Keeps the definitions of one upstream current, on a separate connection. Lists are served from what it found last, so
 * a slow or dead upstream delays no list. Notifications of changes are gathered, so a flood costs one listing a second.
 */

import { ClientError } from '../client/errors.ts'
import type { Subscription } from '../client/subscriptions.ts'
import type { Client } from '../client/types.ts'
import type { Clock } from '../core/clock.ts'
import { messageOf, RpcError } from '../core/error.ts'
import type { Logger } from '../core/log.ts'
import { createStop } from '../core/stop.ts'
import type { Connections, ScopeKey } from './connections.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { readDefinitions } from './definitions.ts'

export interface DiscoveryOptions {
  readonly name: string
  readonly connections: Connections
  /** Returns the connection that lists; `undefined` while no credential for it exists. */
  key(): ScopeKey | Promise<ScopeKey | undefined>
  readonly clock: Clock
  readonly logger: Logger
  readonly timeoutMs: number
  readonly refreshMs: number
  readonly keepsConnection: boolean
  /** A rejection counts as a failed listing. */
  found(definitions: UpstreamDefinitions): Promise<void>
}

export interface UpstreamDiscovery {
  /** Lists now, or joins the listing in flight. Rejects if it fails; it is then tried again by itself. */
  refresh(): Promise<void>
  /** Lists soon, because something may have changed. */
  changed(): void
  readonly lastError: string | undefined
  close(): Promise<void>
}

export const isListChanged = (method: string): boolean => /^notifications\/\w+\/list_changed$/.test(method)

/** Changes within this time are one change. */
const gatherMs = 100
/** At most one listing in this time, however many changes are announced. */
const minIntervalMs = 1000
const firstRetryMs = 1000
const maxRetryMs = 60_000

export function createDiscovery(options: DiscoveryOptions): UpstreamDiscovery {
  const { name, connections, clock, logger, timeoutMs, refreshMs, keepsConnection } = options
  let cancelTimer: (() => void) | undefined
  let running: Promise<void> | undefined
  let lastListed = Number.NEGATIVE_INFINITY
  let retryMs = firstRetryMs
  let lastError: string | undefined
  let isClosed = false
  let isChanged = false
  let kept: { readonly client: Client; readonly subscription: Subscription | undefined; release(): void } | undefined

  function schedule(ms: number): void {
    if (isClosed) return
    cancelTimer?.()
    cancelTimer = clock.after(ms, () => {
      cancelTimer = undefined
      isChanged = false
      refresh().catch(() => {
        // Logged where it failed, and tried again.
      })
    })
  }

  function changed(): void {
    if (isChanged) return
    isChanged = true
    // A listing in flight may have read the lists before this change, so another one follows it.
    if (!running) schedule(Math.max(gatherMs, lastListed + minIntervalMs - clock.now()))
  }

  function refresh(): Promise<void> {
    running ??= list().finally(() => {
      running = undefined
      if (isChanged) schedule(minIntervalMs)
    })
    return running
  }

  async function list(): Promise<void> {
    lastListed = clock.now()
    let failure: unknown
    let isKept = false
    const lease = await acquire()
    try {
      await options.found(await readDefinitions(lease.client, timeoutMs))
      lastError = undefined
      retryMs = firstRetryMs
      if (keepsConnection && kept?.client !== lease.client) {
        isKept = true
        await keep(lease.client, () => lease.release())
      }
      schedule(refreshMs)
    } catch (thrown) {
      failure = thrown
      throw failed(thrown)
    } finally {
      if (!isKept) lease.release(failure)
    }
  }

  async function acquire(): Promise<{ readonly client: Client; release(failure?: unknown): void }> {
    try {
      const key = await options.key()
      if (key) return await connections.acquire(key, createStop())
    } catch (thrown) {
      throw failed(thrown)
    }
    // Not tried again by itself: a sign-in lists.
    lastError = 'its definitions are listed with the first sign-in'
    throw new ClientError('unauthorized', lastError, { mayHaveRun: false })
  }

  function failed(thrown: unknown): unknown {
    // The operator reads why the connection failed. A refusal is for callers, who must not learn it.
    const cause = thrown instanceof RpcError && thrown.cause instanceof ClientError ? thrown.cause : thrown
    lastError = messageOf(cause, 'unknown failure')
    logger.warn({ event: 'upstreamNotListed', upstream: name, message: lastError, retryMs })
    forget()
    schedule(retryMs)
    retryMs = Math.min(retryMs * 2, maxRetryMs)
    return thrown
  }

  /** Listens for changes. An upstream that has no notifications is listed every `refreshMs`. */
  async function keep(client: Client, release: () => void): Promise<void> {
    forget()
    let subscription: Subscription | undefined
    try {
      subscription = await client.subscribe(
        { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true },
        {
          notification: (method) => {
            if (isListChanged(method)) changed()
          },
          reopened: changed,
          ended: () => {
            if (kept?.client === client) forget()
          },
        },
      )
    } catch (thrown) {
      logger.info({ event: 'upstreamNotWatched', upstream: name, message: messageOf(thrown) })
    }
    kept = { client, subscription, release }
  }

  function forget(): void {
    const ended = kept
    kept = undefined
    ended?.release()
    ended?.subscription?.close().catch(() => {})
  }

  return {
    refresh,
    changed,
    get lastError() {
      return lastError
    },
    async close() {
      isClosed = true
      cancelTimer?.()
      forget()
      await running?.catch(() => {})
    },
  }
}
