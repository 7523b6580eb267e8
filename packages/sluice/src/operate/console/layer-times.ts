/**
 * Measures how long each layer took for a call, while a person looks. A probe stands outside each layer. While no page
 * is open it is one comparison, and passes the call on without a promise. With a page open, at most `maxPerSecond` calls
 * are measured, so that watching a busy server does not slow it down.
 */

import type { Call, Facts, Handler, Layer } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { monotonicNow } from '../../core/clock.ts'
import type { LayerTime } from './api.ts'

/** The way of one call through the layers. */
export interface CallPath {
  /** In the order in which the call reached them. Each time is without the layers further in. */
  readonly layers: readonly LayerTime[]
  /** The layer that refused the call, or answered it without passing it on. `run` if the work did. */
  readonly endedBy: string
}

export interface LayerTimes {
  /** Makes the probes of one server. */
  createProbe(): (name: string) => Layer
  /** Measures calls from now on. The returned function ends it. */
  watch(): () => void
  /** Returns the way of the call that has these facts; `undefined` if it was not measured. */
  pathOf(facts: Facts): CallPath | undefined
}

interface Step {
  readonly name: string
  readonly from: number
  until?: number
  failed?: true
}

const maxPerSecond = 50
/** They are outside of what is measured: the record of a call is made by `observe`. */
const outside: ReadonlySet<string> = new Set(['tracing', 'observe'])

export function createLayerTimes(clock: Clock): LayerTimes {
  let watchers = 0
  let second = 0
  let measured = 0
  const paths = new WeakMap<Facts, Step[]>()

  function mayMeasure(): boolean {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) [second, measured] = [now, 0]
    return measured++ < maxPerSecond
  }

  async function measure(steps: Step[], name: string, next: Handler, call: Call): ReturnType<Handler> {
    const step: Step = { name, from: monotonicNow(clock) }
    steps.push(step)
    try {
      return await next(call)
    } catch (thrown) {
      step.failed = true
      throw thrown
    } finally {
      step.until = monotonicNow(clock)
    }
  }

  return {
    createProbe() {
      let first: string | undefined
      return (name) => (next) => {
        if (outside.has(name)) return next
        // Layers are composed from the inside out, so the last probe that is made is the first that a call meets.
        first = name
        return function probe(call) {
          if (watchers === 0) return next(call)
          let steps = paths.get(call.facts)
          if (!steps && name === first && mayMeasure()) {
            steps = []
            paths.set(call.facts, steps)
          }
          return steps ? measure(steps, name, next, call) : next(call)
        }
      }
    },
    watch() {
      watchers++
      let isWatching = true
      return () => {
        if (isWatching) watchers--
        isWatching = false
      }
    },
    pathOf(facts) {
      const steps = paths.get(facts)
      return steps && steps.length > 0 ? toPath(steps, monotonicNow(clock)) : undefined
    },
  }
}

/** A layer may pass a call on more than once, so the times of one name are summed. */
function toPath(steps: readonly Step[], now: number): CallPath {
  const totals = new Map<string, number>()
  for (const { name, from, until = now } of steps) totals.set(name, (totals.get(name) ?? 0) + until - from)
  const all = [...totals]
  const layers = all.map(([name, total], at) => {
    const inside = all[at + 1]?.[1] ?? 0
    return { name, ms: Math.max(0, Math.round((total - inside) * 100) / 100) }
  })
  return { layers, endedBy: (steps.findLast(({ failed }) => failed) ?? steps.at(-1))?.name ?? '' }
}
