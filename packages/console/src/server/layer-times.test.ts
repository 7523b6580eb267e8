/** The probes between the layers: what they measure, and that they do nothing while no person looks. */

import type { Call, Layer } from 'sluice'
import { RpcError } from 'sluice'
import { aCall, fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { createLayerTimes } from './layer-times.ts'

/** A layer that takes this long on the way in and on the way out. */
const taking =
  (clock: ReturnType<typeof fakeClock>, ms: number): Layer =>
  (next) =>
  async (call) => {
    await clock.advance(ms)
    const answer = await next(call)
    await clock.advance(ms)
    return answer
  }

test('each layer has its time without the layers further in, and the work is the last', async () => {
  const clock = fakeClock()
  const times = createLayerTimes(clock)
  const handler = times.compose(
    { observe: taking(clock, 50), resolve: taking(clock, 1), rateLimit: taking(clock, 3) },
    async () => {
      await clock.advance(10)
      return { content: [] }
    },
  )
  times.watch()
  const call = aCall()
  await handler(call)
  expect(times.pathOf(call.facts)).toEqual({
    layers: [
      { name: 'resolve', ms: 2 },
      { name: 'rateLimit', ms: 6 },
      { name: 'run', ms: 10 },
    ],
    endedBy: 'run',
  })
})

test('a layer that refuses, or answers without passing on, ended the call', async () => {
  const clock = fakeClock()
  const times = createLayerTimes(clock)
  const refuse: Layer = () => () => Promise.reject(new RpcError('forbidden', 'no'))
  const answer: Layer = () => async () => ({ content: [] })
  const pass: Layer = (next) => next
  times.watch()
  const end = async (layers: { readonly [name: string]: Layer }): Promise<string | undefined> => {
    const call: Call = aCall()
    const serve = times.compose(layers, () => expect.unreachable())
    await (async () => serve(call))().catch(() => {})
    return times.pathOf(call.facts)?.endedBy
  }
  expect(await end({ resolve: pass, authorize: refuse, audit: pass })).toBe('authorize')
  expect(await end({ resolve: pass, approvals: answer, audit: pass })).toBe('approvals')
})

test('while no person looks nothing is measured, and the promise of the layer is passed on as it is', async () => {
  const clock = fakeClock()
  const times = createLayerTimes(clock)
  const promise = Promise.resolve({ content: [] })
  const handler = times.compose({}, () => promise)
  const unwatch = times.watch()
  unwatch()
  unwatch()
  const call = aCall()
  expect(handler(call)).toBe(promise)
  expect(times.pathOf(call.facts)).toBeUndefined()
})

test('a layer of another party is composed once, whether calls are measured or not', async () => {
  const times = createLayerTimes(fakeClock())
  let composed = 0
  const counting: Layer = (next) => {
    composed++
    let calls = 0
    return async (call) => ({ ...(await next(call)), calls: ++calls })
  }
  const pass: Layer = (next) => next
  const handler = times.compose({ resolve: pass, 'custom 1': counting, audit: pass }, async () => ({ content: [] }))
  expect(await handler(aCall())).toMatchObject({ calls: 1 })
  times.watch()
  const call = aCall()
  expect(await handler(call)).toMatchObject({ calls: 2 })
  expect(composed).toBe(1)
  expect(times.pathOf(call.facts)?.layers.map(({ name }) => name)).toEqual(['resolve', 'custom', 'audit', 'run'])
})

test('at most fifty calls a second are measured', async () => {
  const clock = fakeClock()
  const times = createLayerTimes(clock)
  const handler = times.compose({}, async () => ({ content: [] }))
  times.watch()
  const measured = async (): Promise<number> => {
    const calls = Array.from({ length: 60 }, () => aCall())
    for (const call of calls) await handler(call)
    return calls.filter(({ facts }) => times.pathOf(facts)).length
  }
  expect(await measured()).toBe(50)
  await clock.advance(1000)
  expect(await measured()).toBe(50)
})
