/** Measures one growth in a separate process: the CPU time of the call and the memory, at each size. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { median } from '../lib/figures.ts'
import type { Growth } from './growth.ts'

export interface Point {
  readonly size: number
  readonly cpuUs: number
  /** In use after a collection of garbage, before the calls. */
  readonly megabytes: number
}

export interface Description {
  readonly what: string
  readonly measured: string
}

export interface Progress {
  readonly reached: number
}

/** How much is added between two signs of life. */
const maxStep = 20_000

/** The first point is measured after a longer time, because the code is compiled during it. */
const warmUpMs = { first: 1_000, next: 300 } as const
/** Long enough for several collections of garbage, which take half of the time of a call over HTTP. */
const roundMs = 500
const rounds = 5

/**
 * Returns microseconds of CPU time per call, of calls that take this much CPU time. With a time on the clock, a round on
 * a busy machine would have too few calls.
 */
async function measure(call: () => unknown, cpuMs: number): Promise<number> {
  const begun = process.cpuUsage()
  let calls = 0
  for (let batch = 1; ; batch *= 2) {
    for (let i = 0; i < batch; i++) await call()
    calls += batch
    const { user, system } = process.cpuUsage(begun)
    if (user + system >= cpuMs * 1000) return (user + system) / calls
  }
}

// Otherwise the garbage of growing would be collected during the calls.
setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

async function pointOf({ call, sizes, expect = '' }: Growth, size: number): Promise<Point> {
  const answer = String(await call())
  if (!answer.includes(expect)) throw new Error(`answers ${answer.slice(0, 200)}`)
  if (typeof collectGarbage === 'function') collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  await measure(call, size === sizes[0] ? warmUpMs.first : warmUpMs.next)
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) taken.push(await measure(call, roundMs))
  return { size, cpuUs: median(taken), megabytes: (heapUsed + external) / 1e6 }
}

/** Yields a description, its progress, and a point per size, because a process that is silent for long is stopped. */
async function* grow(name: string): AsyncGenerator<Point | Description | Progress> {
  const { growth } = (await import(`./${name}.ts`)) as { growth: Growth }
  yield { what: growth.what, measured: growth.measured }
  let reached = 0
  for (const size of growth.sizes) {
    while (reached < size) {
      reached = Math.min(size, reached + maxStep)
      await growth.growTo(reached)
      yield { reached }
    }
    yield await pointOf(growth, size)
  }
}

let growing: ReturnType<typeof grow> | undefined

process.on('message', (name: string) => {
  growing ??= grow(name)
  growing.next().then(
    ({ value }) => process.send?.(value ?? { ended: true }),
    (error: Error) => process.send?.({ failed: error.message }),
  )
})
process.on('disconnect', () => process.exit())
