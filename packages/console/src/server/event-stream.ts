/**
 * The Server-Sent Events of an open page, at most two batches a second and a screenful each. Otherwise a browser could
 * not keep up with a busy server, and a slow one would fill the server's memory.
 */

import type { Clock } from 'sluice'
import type { ConsoleEvents } from '../api/index.ts'
import type { ConsoleState } from './console-state.ts'
import type { LiveFilter } from './live-stats.ts'

export interface EventStreamOptions {
  readonly consoleState: ConsoleState
  readonly clock: Clock
  /** If absent, the stream reports tickets only. */
  readonly live?: LiveFilter
  /** The tenants that the operator may see. */
  readonly tenants: readonly string[]
  /** Writes text to the stream. `false` if its buffer is full. */
  send(text: string): boolean
  /** Whether the operator's credential is still valid. */
  isStillAllowed(): Promise<boolean>
  close(): void
}

const tickMs = 500
/** No person reads more in half a second, and a browser must draw it. */
const maxRequestsPerTick = 12
const ticksPerSecond = 2
const pollEveryTicks = 5 * ticksPerSecond
/** A revoked key is refused within the same time everywhere else. */
const checkEveryTicks = 5 * ticksPerSecond

/** Starts the stream. The returned function stops it. */
export function createEventStream({
  consoleState,
  clock,
  live,
  tenants,
  send,
  isStillAllowed,
  close,
}: EventStreamOptions): () => void {
  let seq = consoleState.live.seq
  let second = Math.floor(clock.now() / 1000) - 1
  let ticks = 0
  let closed = false
  let cancelTimer = (): void => {}
  /** True at the start, so that the page learns how many tickets are pending. */
  let changed = true
  let counting = false
  let lastPending = 0
  const unwatch = live ? consoleState.layerTimes.watch() : () => {}
  const unsubscribe = consoleState.onTicketChange(() => {
    changed = true
  })
  const sendEvent = <Name extends keyof ConsoleEvents>(name: Name, data: ConsoleEvents[Name]): boolean =>
    send(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

  async function sendTickets(): Promise<void> {
    // No notification is sent when a ticket expires, so the count is polled as well.
    const due = changed || ticks % pollEveryTicks === 0
    if (!due || counting) return
    const wasChanged = changed
    counting = true
    changed = false
    try {
      const pending = await consoleState.countPending(tenants)
      if (!closed && (wasChanged || pending !== lastPending)) sendEvent('tickets', { pending })
      lastPending = pending
    } catch {
      // The store is unavailable. The next change or poll tries again.
      changed = true
    } finally {
      counting = false
    }
  }
  function sendLive(filter: LiveFilter): void {
    const { requests, missed } = consoleState.live.requestsSince(seq, filter, maxRequestsPerTick)
    seq = consoleState.live.seq
    if (requests.length > 0) sendEvent('requests', { requests, missed })
    for (const each of consoleState.live.seconds(filter, second)) {
      second = each.at / 1000
      sendEvent('second', {
        ...{ second: each, counts: consoleState.gauges(tenants), running: consoleState.running(filter) },
      })
    }
  }
  async function check(): Promise<void> {
    const isAllowed = await isStillAllowed().catch(() => true)
    if (isAllowed || closed) return
    sendEvent('over', {})
    stop()
    close()
  }
  function tick(): void {
    if (closed) return
    ticks++
    if (ticks % ticksPerSecond === 0) sendTickets().catch(fail)
    if (ticks % checkEveryTicks === 0) {
      // Keep-alive, because a proxy closes a stream that is silent.
      send(': still here\n\n')
      check().catch(fail)
    }
    if (live) sendLive(live)
    cancelTimer = clock.after(tickMs, tick)
  }
  /** Closes the stream. The page opens it again. */
  function fail(): void {
    stop()
    close()
  }
  function stop(): void {
    closed = true
    unsubscribe()
    unwatch()
    cancelTimer()
  }
  send('retry: 2000\n\n')
  sendTickets().catch(fail)
  cancelTimer = clock.after(tickMs, tick)
  return stop
}
