/**
 * What a page hears while it is open, as server-sent events. A few times a second at most, and a screenful at most,
 * whatever passes: a browser must keep up with a busy server, and a slow one must not fill its memory.
 */

import type { Clock } from '../../core/clock.ts'
import type { Events } from './api.ts'
import type { LiveFilter } from './live.ts'
import type { Panel } from './panel.ts'

export interface FeedOptions {
  readonly panel: Panel
  readonly clock: Clock
  /** Left out: tickets alone. */
  readonly live?: LiveFilter
  /** The tenants it may hear of. */
  readonly tenants: readonly string[]
  /** Puts text on the stream; false when it is full, and then nothing more is made until it is not. */
  send(text: string): boolean
  /** Whether who listens may still listen. */
  allowed(): Promise<boolean>
  end(): void
}

const beatMs = 500
/** Nobody reads more in half a second, and a browser has to draw it. */
const screenful = 12
const everySecond = 2
const lookEvery = 5 * everySecond
/** As soon as a revoked key is refused elsewhere. */
const checkEvery = 5 * everySecond

/** The returned function ends it. */
export function createFeed({ panel, clock, live, tenants, send, allowed, end }: FeedOptions): () => void {
  let seq = panel.live.seq
  let second = Math.floor(clock.now() / 1000) - 1
  let beats = 0
  let over = false
  let callOff = (): void => {}
  /** Asked once at the start, so that the page knows how many wait. */
  let changed = true
  let asking = false
  let told = 0
  const unwatch = panel.watchTickets(() => {
    changed = true
  })
  const say = <Name extends keyof Events>(name: Name, data: Events[Name]): boolean =>
    send(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`)

  async function sayTickets(): Promise<void> {
    // Nobody tells of a ticket whose time is up: its number is looked at now and then.
    const due = changed || beats % lookEvery === 0
    if (!due || asking) return
    const isNews = changed
    asking = true
    changed = false
    try {
      const pending = await panel.pending(tenants)
      if (!over && (isNews || pending !== told)) say('tickets', { pending })
      told = pending
    } catch {
      // The store is away; the next change, or the next look, tells.
      changed = true
    } finally {
      asking = false
    }
  }
  function sayLive(filter: LiveFilter): void {
    const { requests, missed } = panel.live.since(seq, filter, screenful)
    seq = panel.live.seq
    if (requests.length > 0) say('requests', { requests, missed })
    for (const each of panel.live.seconds(filter, second)) {
      second = each.at / 1000
      say('second', { second: each, counts: panel.counts(tenants) })
    }
  }
  async function check(): Promise<void> {
    const still = await allowed().catch(() => true)
    if (still || over) return
    say('over', {})
    stop()
    end()
  }
  function beat(): void {
    if (over) return
    beats++
    if (beats % everySecond === 0) sayTickets().catch(fail)
    if (beats % checkEvery === 0) {
      // Something must pass, or whoever sits between takes the stream for dead.
      send(': still here\n\n')
      check().catch(fail)
    }
    if (live) sayLive(live)
    callOff = clock.after(beatMs, beat)
  }
  /** A page whose stream has failed opens it again. */
  function fail(): void {
    stop()
    end()
  }
  function stop(): void {
    over = true
    unwatch()
    callOff()
  }
  send('retry: 2000\n\n')
  sayTickets().catch(fail)
  callOff = clock.after(beatMs, beat)
  return stop
}
