/**
 * What a page hears while it is open, as server-sent events. A few times a second at most, and a screenful at most,
 * whatever passes: a browser must keep up with a busy server, and a slow one must not fill its memory.
 */

import type { Clock } from '../../core/clock.ts'
import type { ConsoleEvents } from './api.ts'
import type { ConsoleState } from './console-state.ts'
import type { LiveFilter } from './live-stats.ts'

export interface EventStreamOptions {
  readonly consoleState: ConsoleState
  readonly clock: Clock
  /** Left out: tickets alone. */
  readonly live?: LiveFilter
  /** The tenants it may hear of. */
  readonly tenants: readonly string[]
  /** Puts text on the stream; false when it is full, and then nothing more is made until it is not. */
  send(text: string): boolean
  /** Whether who listens may still listen. */
  isStillAllowed(): Promise<boolean>
  close(): void
}

const tickMs = 500
/** Nobody reads more in half a second, and a browser has to draw it. */
const maxRequestsPerTick = 12
const ticksPerSecond = 2
const pollEveryTicks = 5 * ticksPerSecond
/** As soon as a revoked key is refused elsewhere. */
const checkEveryTicks = 5 * ticksPerSecond

/** The returned function ends it. */
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
  /** Asked once at the start, so that the page knows how many wait. */
  let changed = true
  let asking = false
  let lastPending = 0
  const unsubscribe = consoleState.onTicketChange(() => {
    changed = true
  })
  const sendEvent = <Name extends keyof ConsoleEvents>(name: Name, data: ConsoleEvents[Name]): boolean =>
    send(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

  async function sendTickets(): Promise<void> {
    // Nobody tells of a ticket whose time is up: its number is looked at now and then.
    const due = changed || ticks % pollEveryTicks === 0
    if (!due || asking) return
    const isNews = changed
    asking = true
    changed = false
    try {
      const pending = await consoleState.countPending(tenants)
      if (!closed && (isNews || pending !== lastPending)) sendEvent('tickets', { pending })
      lastPending = pending
    } catch {
      // The store is away; the next change, or the next look, tells.
      changed = true
    } finally {
      asking = false
    }
  }
  function sendLive(filter: LiveFilter): void {
    const { requests, missed } = consoleState.live.requestsSince(seq, filter, maxRequestsPerTick)
    seq = consoleState.live.seq
    if (requests.length > 0) sendEvent('requests', { requests, missed })
    for (const each of consoleState.live.seconds(filter, second)) {
      second = each.at / 1000
      sendEvent('second', { second: each, counts: consoleState.gauges(tenants) })
    }
  }
  async function check(): Promise<void> {
    const still = await isStillAllowed().catch(() => true)
    if (still || closed) return
    sendEvent('over', {})
    stop()
    close()
  }
  function tick(): void {
    if (closed) return
    ticks++
    if (ticks % ticksPerSecond === 0) sendTickets().catch(fail)
    if (ticks % checkEveryTicks === 0) {
      // Something must pass, or whoever sits between takes the stream for dead.
      send(': still here\n\n')
      check().catch(fail)
    }
    if (live) sendLive(live)
    cancelTimer = clock.after(tickMs, tick)
  }
  /** A page whose stream has failed opens it again. */
  function fail(): void {
    stop()
    close()
  }
  function stop(): void {
    closed = true
    unsubscribe()
    cancelTimer()
  }
  send('retry: 2000\n\n')
  sendTickets().catch(fail)
  cancelTimer = clock.after(tickMs, tick)
  return stop
}
