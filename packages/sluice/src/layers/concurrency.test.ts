import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { RpcError } from '../core/error.ts'
import type { Gauge } from '../core/plugin.ts'
import { createStop } from '../core/stop.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import type { ConcurrencyOptions } from './concurrency.ts'
import { concurrencyLayer } from './concurrency.ts'
import { timeoutLayer } from './timeout.ts'

interface Work {
  readonly name: string
  finish(): void
  fail(): void
}

/** Work that ends when the test says so. */
function make(options: ConcurrencyOptions) {
  const working: Work[] = []
  const counts: Gauge[] = []
  const clock = fakeClock()
  const serve = asyncPipeline([timeoutLayer(clock), concurrencyLayer(options, [], counts)], (call) => {
    return new Promise<Answer>((resolve, reject) => {
      const done = (): void => {
        working.splice(working.indexOf(work), 1)
      }
      const work: Work = {
        name: String(call.id),
        finish() {
          done()
          resolve({})
        },
        fail() {
          done()
          reject(new Error('failed'))
        },
      }
      working.push(work)
    })
  })
  const refused: string[] = []
  const send = async (call: Call): Promise<void> => {
    serve(call).catch((thrown) => refused.push(`${call.id} ${thrown instanceof RpcError ? thrown.reason : 'failed'}`))
    await settle()
  }
  const waiting = (): number | undefined => counts[0]?.read()
  return { serve, send, working, refused, clock, waiting, names: () => working.map(({ name }) => name) }
}
const of = (tenant: string, id: string, more: Partial<Call> = {}): Call => {
  const call = aCall({ id, caller: { ...anonymous, subject: `${tenant}-user` }, ...more })
  return { ...call, tenant: { ...call.tenant, id: tenant } }
}

test('a tenant has a fixed number of slots, further calls wait, and beyond the queue they are refused at once', async () => {
  const { send, names, refused, working } = make({ perTenant: 1, queue: 1 })
  for (const id of ['1', '2', '3']) await send(of('a', id))
  expect(names()).toEqual(['1'])
  expect(refused).toEqual(['3 rateLimited'])
  working[0]?.finish()
  await settle()
  expect(names()).toEqual(['2'])
})

test('waiting calls are counted, over tenants and tools', async () => {
  const { send, waiting, working } = make({ perTenant: 2, tools: { 'a-tool': 1 }, queue: 5 })
  expect(waiting()).toBe(0)
  for (const id of ['1', '2', '3']) await send(of('a', id))
  await send(of('b', '4'))
  expect(waiting()).toBe(3)
  while (working.length > 0) {
    working[0]?.finish()
    await settle()
  }
  expect(waiting()).toBe(0)
})

test('the refusal says when to try again', async () => {
  const { send, serve } = make({ perTenant: 1, queue: 0 })
  await send(of('a', '1'))
  await expect(serve(of('a', '2'))).rejects.toMatchObject({
    message: 'Too many calls of this tenant are running: wait 1 s, then try again',
    data: { retryAfterMs: 1000 },
  })
})

test('a tenant that uses all of its slots uses none of another tenant', async () => {
  const { send, names } = make({ perTenant: 2, queue: 2 })
  for (let i = 0; i < 100; i++) await send(of('a', `a${i}`))
  await send(of('b', 'b'))
  expect(names()).toEqual(['a0', 'a1', 'b'])
})

test('a tool with few slots serves tenants in turn, and a quiet tenant displaces a call in a full queue', async () => {
  const { send, names, refused, working } = make({ perTenant: 50, tools: { 'a-tool': 1 }, queue: 4 })
  for (let i = 0; i < 6; i++) await send(of('a', `a${i}`))
  expect(refused).toEqual(['a5 rateLimited'])
  await send(of('b', 'b0'))
  expect(refused).toEqual(['a5 rateLimited', 'a4 rateLimited'])
  const order: string[] = []
  while (working[0]) {
    order.push(...names())
    working[0].finish()
    await settle()
  }
  expect(order).toEqual(['a0', 'a1', 'b0', 'a2', 'a3'])
})

test('the callers of one tenant are served in turn', async () => {
  const { send, names, working } = make({ perTenant: 1, queue: 4 })
  const by = (subject: string, id: string): Call => of('a', id, { caller: { ...anonymous, subject } })
  for (const id of ['x0', 'x1', 'x2']) await send(by('x', id))
  await send(by('y', 'y0'))
  const order: string[] = []
  while (working[0]) {
    order.push(...names())
    working[0].finish()
    await settle()
  }
  expect(order).toEqual(['x0', 'x1', 'y0', 'x2'])
})

test('a deadline frees the slot although the work continues, and ends the waiting too', async () => {
  const { send, names, refused, clock } = make({ perTenant: 1, queue: 5 })
  const short = (id: string): Call => of('a', id, { meta: { 'dev.sluice/deadlineMs': 10 } })
  await send(short('1'))
  await send(of('a', '2'))
  await send(short('3'))
  await clock.advance(10)
  expect(refused).toEqual(['1 timeout', '3 timeout'])
  expect(names()).toEqual(['1', '2'])
})

test('a cancelled call leaves the queue, and a cancelled running call releases its slot', async () => {
  const { send, names, refused } = make({ perTenant: 1, queue: 5 })
  const calls = ['1', '2', '3'].map((id) => of('a', id, { stop: createStop() }))
  for (const call of calls) await send(call)
  calls[1]?.stop.stop(new RpcError('cancelled', 'Cancelled'))
  calls[0]?.stop.stop(new RpcError('cancelled', 'Cancelled'))
  await settle()
  expect(refused.sort()).toEqual(['1 cancelled', '2 cancelled'])
  expect(names()).toEqual(['1', '3'])
})

test('a call that is stopped when it gets its slots releases them, and does not begin', async () => {
  // Slots are handed over some turns after the work ended. The next call must get through in whichever turn the stop
  // comes.
  for (let turns = 0; turns < 12; turns++) {
    const { send, names, working } = make({ perTenant: 1, tools: { 'a-tool': 1 }, queue: 5 })
    const second = of('a', '2', { stop: createStop() })
    await send(of('a', '1'))
    await send(second)
    working[0]?.finish()
    for (let turn = 0; turn < turns; turn++) await null
    const began = names().includes('2')
    second.stop.stop(new RpcError('cancelled', 'Cancelled'))
    await settle()
    await send(of('a', '3'))
    expect(names()).toEqual(began ? ['2', '3'] : ['3'])
  }
})

test('a cancelled call frees its position in the queue', async () => {
  const { send, refused } = make({ perTenant: 1, queue: 1 })
  const second = of('a', '2', { stop: createStop() })
  await send(of('a', '1'))
  await send(second)
  second.stop.stop(new RpcError('cancelled', 'Cancelled'))
  await send(of('a', '3'))
  expect(refused).toEqual(['2 cancelled'])
})

test('an inner layer that throws instead of rejecting costs no slot', async () => {
  const serve = asyncPipeline([concurrencyLayer({ perTenant: 1, queue: 0 })], () => {
    throw new Error('synchronous')
  })
  for (let i = 0; i < 3; i++) await expect(serve(of('a', '1'))).rejects.toThrow('synchronous')
})

test('streams, and methods that answer at once, hold no slot', async () => {
  const { send, names } = make({ perTenant: 1, queue: 0 })
  const { target } = aCall()
  const endless = { ...target, policy: { ...target.policy, timeoutMs: Number.POSITIVE_INFINITY } }
  await send(of('a', 'tool'))
  await send(of('a', 'stream', { target: endless }))
  await send(of('a', 'ping', { target: { ...target, kind: 'method', name: 'ping' } }))
  await send(of('a', 'complete', { target: { ...target, kind: 'method', name: 'completion/complete' } }))
  expect(names()).toEqual(['tool', 'stream', 'ping'])
})

test('slots of idle tenants are dropped, and running tenants keep their count', async () => {
  const { send, working, refused } = make({ perTenant: 1, queue: 0 })
  await send(of('busy', 'first'))
  for (let i = 0; i < 1500; i++) {
    send(of(`t${i}`, 'x')).catch(expect.unreachable)
    if (i % 500 === 499) {
      await settle()
      for (const work of working.filter(({ name }) => name === 'x')) work.finish()
      await settle()
    }
  }
  await send(of('busy', 'second'))
  expect(refused).toEqual(['second rateLimited'])
})

test('every slot is released, whatever happens to calls and in any order', async () => {
  const step = fc.record({
    act: fc.constantFrom('send', 'send', 'send', 'finish', 'fail', 'cancel', 'wait'),
    which: fc.nat(20),
    turns: fc.nat(6),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { serve, send, working, clock, names } = make({ perTenant: 2, tools: { 'a-tool': 3 }, queue: 3 })
      const calls: Call[] = []
      for (const { act, which, turns } of steps) {
        const work = working[which % Math.max(1, working.length)]
        if (act === 'send') {
          const call = of(`t${which % 3}`, String(calls.length), { stop: createStop() })
          calls.push(call)
          serve(call).catch(() => {})
        } else if (act === 'finish') work?.finish()
        else if (act === 'fail') work?.fail()
        else if (act === 'cancel') calls[which]?.stop.stop(new RpcError('cancelled', 'Cancelled'))
        else await clock.advance(10_000)
        for (let turn = 0; turn < turns; turn++) await null
      }
      await clock.advance(60_000)
      working.length = 0
      for (const tenant of ['t0', 't1', 't2']) await send(of(tenant, tenant))
      expect(names()).toEqual(['t0', 't1', 't2'])
    }),
  )
})
