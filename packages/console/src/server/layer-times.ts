/**
 * Measures how long each layer took for a call, while a person looks. The layers are composed twice, plainly and with a
 * probe outside each. While no page is open, a call costs one comparison more. With a page open, at most `maxPerSecond`
 * calls take the measured way, so that watching a busy server does not slow it down.
 */

import type { Answer, Call, Clock, Handler, Layer } from 'sluice'
import { pipeline } from 'sluice/extend'
import type { NamedLayers } from 'sluice/internal'
import { monotonicNow } from 'sluice/internal'
import type { LayerTime } from '../api/index.ts'

/** The way of one call through the layers. */
export interface CallPath {
  /** In the order in which the call reached them. Each time is without the layers further in. */
  readonly layers: readonly LayerTime[]
  /** The layer that refused the call, or answered it without passing it on. `run` if the work did. */
  readonly endedBy: string
}

export interface LayerTimes {
  /** Composes the layers of a server, given from the outside in. */
  compose(layers: NamedLayers, run: Handler): Handler
  /** Measures calls from now on. The returned function ends it. */
  watch(): () => void
  /** Returns the way of the call that has these facts; `undefined` if it was not measured. */
  pathOf(facts: Call['facts']): CallPath | undefined
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

interface NamedLayer {
  readonly name: string
  readonly layer: Layer
}
const layerOf = ({ layer }: NamedLayer): Layer => layer

export function createLayerTimes(clock: Clock): LayerTimes {
  let watchers = 0
  /** Whether a call may have been measured. */
  let isUsed = false
  let second = 0
  let measured = 0
  const paths = new WeakMap<Call['facts'], Step[]>()

  function mayMeasure(): boolean {
    const now = Math.floor(clock.now() / 1000)
    if (now !== second) [second, measured] = [now, 0]
    return measured++ < maxPerSecond
  }

  const probe =
    (name: string): Layer =>
    (next) =>
    (call) => {
      const steps = paths.get(call.facts)
      return steps ? measure(steps, name, next, call) : next(call)
    }
  const withProbe = ({ name, layer }: NamedLayer): readonly Layer[] =>
    outside.has(name) ? [layer] : [probe(name), layer]

  async function measure(steps: Step[], name: string, next: Handler, call: Call): Promise<Answer> {
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
    compose(layers, run) {
      const all = Object.entries(layers).flatMap(([name, layer]) => (layer ? [{ name, layer }] : []))
      const isOwn = ({ name }: NamedLayer): boolean => name.startsWith('custom ')
      const custom = all.filter(isOwn)
      const from = custom.length > 0 ? all.findIndex(isOwn) : all.length
      const [before, after] = [all.slice(0, from), all.slice(from + custom.length)]
      let measured = pipeline(after.flatMap(withProbe), probe('run')(run))
      let plain = pipeline(after.map(layerOf), run)
      if (custom.length > 0) {
        // Layers of others are composed once, because they may keep state beside `next`.
        const [inMeasured, inPlain] = [measured, plain]
        const proceed: Handler = (call) => (paths.has(call.facts) ? inMeasured(call) : inPlain(call))
        plain = pipeline(custom.map(layerOf), proceed)
        measured = probe('custom')(plain)
      }
      // The plain way is composed last, because a layer that remembers `next` for later work remembers the last one.
      measured = pipeline(before.flatMap(withProbe), measured)
      plain = pipeline(before.map(layerOf), plain)
      return (call) => {
        if (watchers === 0 || !mayMeasure()) return plain(call)
        paths.set(call.facts, [])
        return measured(call)
      }
    },
    watch() {
      isUsed = true
      watchers++
      let isWatching = true
      return () => {
        if (isWatching) watchers--
        isWatching = false
      }
    },
    pathOf(facts) {
      const steps = isUsed ? paths.get(facts) : undefined
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
