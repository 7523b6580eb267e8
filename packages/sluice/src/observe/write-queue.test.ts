import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Params } from '../core/json.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import { createWriteQueues } from './write-queue.ts'

/** A store whose writes end when the test says so. */
function heldStore() {
  const written: Params[] = []
  const inFlight: { readonly records: readonly Params[]; end(fails: boolean): void }[] = []
  const write = (records: readonly Params[]): Promise<void> =>
    new Promise((resolve, reject) => {
      inFlight.push({
        records,
        end(fails) {
          inFlight.splice(0)
          if (fails) return reject(new Error('away'))
          written.push(...records)
          resolve()
        },
      })
    })
  return { written, inFlight, write }
}

test('a record that arrives at the end of a write is written, at every possible moment', async () => {
  for (let between = 0; between < 12; between++) {
    const { written, inFlight, write } = heldStore()
    const queues = createWriteQueues({ clock: fakeClock(), max: 10, writer: () => write })
    queues.put('acme', { n: 1 })?.catch(expect.unreachable)
    inFlight[0]?.end(false)
    for (let microtask = 0; microtask < between; microtask++) await null
    queues.put('acme', { n: 2 })?.catch(expect.unreachable)
    await settle()
    inFlight[0]?.end(false)
    expect(written, `${between} microtasks later`).toEqual([{ n: 1 }, { n: 2 }])
  }
})

const steps = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant({ do: 'put' as const }) },
    { weight: 3, arbitrary: fc.constant({ do: 'write' as const }) },
    { weight: 2, arbitrary: fc.constant({ do: 'fail' as const }) },
    { weight: 1, arbitrary: fc.constant({ do: 'flush' as const }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('advance' as const), ms: fc.nat({ max: 1_500 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('microtasks' as const), count: fc.nat({ max: 5 }) }) },
  ),
  { maxLength: 40 },
)

test('in every schedule, waiting records have a write in flight or a timer, and are written once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (schedule) => {
      const clock = fakeClock()
      const { written, inFlight, write } = heldStore()
      const queues = createWriteQueues({ clock, max: 8, writer: () => write })
      const accepted: number[] = []
      let n = 0
      for (const step of schedule) {
        if (step.do === 'put' && queues.put('acme', { n: n++ })) accepted.push(n - 1)
        else if (step.do === 'write') inFlight[0]?.end(false)
        else if (step.do === 'fail') inFlight[0]?.end(true)
        else if (step.do === 'flush') queues.flush().catch(expect.unreachable)
        else if (step.do === 'advance') await clock.advance(step.ms)
        else if (step.do === 'microtasks') for (let i = 0; i < step.count; i++) await null
        expect(inFlight.length).toBeLessThanOrEqual(1)
      }
      await settle()
      const isWaiting = written.filter((record) => 'n' in record).length < accepted.length
      if (isWaiting) expect(inFlight.length + clock.pending).toBeGreaterThan(0)
      for (let round = 0; round < 10; round++) {
        await clock.advance(1_000)
        inFlight[0]?.end(false)
      }
      await settle()
      expect(written.filter((record) => 'n' in record).map((record) => record['n'])).toEqual(accepted)
      const gaps = written.filter(({ kind }) => kind === 'dropped').map(({ records }) => Number(records))
      expect(gaps.reduce((sum, each) => sum + each, 0)).toBe(queues.dropped)
      expect(clock.pending).toBe(0)
    }),
    { numRuns: 300 },
  )
})

test('a flush during a write that fails tries once more before it gives up', async () => {
  const { written, inFlight, write } = heldStore()
  const queues = createWriteQueues({ clock: fakeClock(), max: 10, writer: () => write })
  // It fails first, which is the case under test.
  queues.put('acme', { n: 1 })?.catch(() => {})
  let flushed = false
  const flush = queues.flush().then(() => {
    flushed = true
  })
  inFlight[0]?.end(true)
  await settle()
  expect(flushed).toBe(false)
  inFlight[0]?.end(false)
  await flush
  expect(written).toEqual([{ n: 1 }])
})
