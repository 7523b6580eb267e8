/** Measures one growth in a separate process: the CPU time of the call and the memory, at each size. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { measure } from '../contenders/cases.ts'
import { median } from '../lib/figures.ts'
import type { Growth } from './growth.ts'

export interface Point {
  readonly size: number
  readonly cpuUs: number
  readonly megabytes: number
}

export interface Description {
  readonly what: string
  readonly measured: string
}

/** The first point is measured after a longer time, because the code is compiled during it. */
const warmUpMs = { first: 2_000, next: 500 } as const
const roundMs = 200
const rounds = 5

// Otherwise the garbage of growing would be collected during the calls.
setFlagsFromString('--expose-gc')
const collectGarbage: unknown = runInNewContext('gc')

async function pointOf({ call, growTo, sizes, expect = '' }: Growth, size: number): Promise<Point> {
  await growTo(size)
  const answer = String(await call())
  if (!answer.includes(expect)) throw new Error(`answers ${answer.slice(0, 200)}`)
  if (typeof collectGarbage === 'function') collectGarbage()
  await measure(call, size === sizes[0] ? warmUpMs.first : warmUpMs.next)
  const taken: number[] = []
  for (let round = 0; round < rounds; round++) taken.push(await measure(call, roundMs))
  return { size, cpuUs: median(taken), megabytes: process.memoryUsage.rss() / 1e6 }
}

/** Yields a description, and then a point per size, so that no single answer takes long. */
async function* grow(name: string): AsyncGenerator<Point | Description> {
  const { growth } = (await import(`./${name}.ts`)) as { growth: Growth }
  yield { what: growth.what, measured: growth.measured }
  for (const size of growth.sizes) yield await pointOf(growth, size)
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
