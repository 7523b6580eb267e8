import { expect, test } from 'vitest'
import type { LogLine } from '../core/log.ts'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import { takeWithFallback } from './shared-bucket.ts'

const bucket = { burst: 2, perSecond: 1 }
const failures = {
  rejects: () => Promise.reject(new Error('ECONNREFUSED')),
  throws: () => {
    throw new Error('not connected')
  },
  'never answers': () => new Promise<never>(() => {}),
} satisfies { [how: string]: () => Promise<never> }

/** A store whose `take` can be broken, and the takes that reached it. */
function make() {
  const clock = fakeClock()
  const shared = memoryStore(clock)
  const state: { broken: (() => Promise<number>) | undefined; asked: number } = { broken: undefined, asked: 0 }
  const store: Store = {
    ...shared,
    take(key, of) {
      state.asked++
      return state.broken ? state.broken() : shared.take(key, of)
    },
  }
  const lines: LogLine[] = []
  const push = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: push, warn: push, error: push }
  return { clock, shared, state, lines, take: takeWithFallback({ store, local: memoryStore(clock), clock, logger }) }
}

test('while the store is available, its buckets count', async () => {
  const { take, shared, clock } = make()
  await take(['k'], bucket)
  await shared.take(['k'], bucket)
  expect(await take(['k'], bucket)).toBeGreaterThan(0)
  await clock.advance(50)
  expect(clock.pending).toBe(0)
})

test('a blocked event loop is not mistaken for a silent store', async () => {
  const { clock, state, lines, take } = make()
  const answers: ((waitMs: number) => void)[] = []
  state.broken = () => new Promise((resolve) => answers.push(resolve))
  const asked = take(['k'], bucket)
  // After a second of work the event loop runs due timers first. It reads the store's response after them.
  clock.jump(1_000)
  for (const answer of answers) answer(0)
  expect(await asked).toBe(0)
  expect(lines).toEqual([])
})

test.each(Object.keys(failures) as (keyof typeof failures)[])(
  'a store that %s hands over to the local bucket within 250 ms, and the limit holds',
  async (how) => {
    const { take, clock, state } = make()
    state.broken = failures[how]
    const waits: number[] = []
    const all = Promise.all(Array.from({ length: 5 }, () => take(['k'], bucket).then((ms) => waits.push(ms))))
    await clock.advance(250)
    expect(waits).toHaveLength(5)
    await all
    expect(waits.filter((ms) => ms === 0)).toHaveLength(2)
    await clock.advance(50)
    expect(clock.pending).toBe(0)
  },
)

test('an unavailable store is tried once a second, by a call that does not wait for it', async () => {
  const { take, clock, state } = make()
  state.broken = failures['never answers']
  take(['k'], bucket).catch(expect.unreachable)
  await clock.advance(250)
  state.asked = 0
  for (let tenth = 0; tenth < 50; tenth++) {
    let answered = false
    take(['k'], bucket).then(() => {
      answered = true
    }, expect.unreachable)
    await settle()
    expect(answered).toBe(true)
    await clock.advance(100)
  }
  expect(state.asked).toBeGreaterThanOrEqual(4)
  expect(state.asked).toBeLessThanOrEqual(5)
})

test('once the store responds again its buckets count again, and each change is logged once', async () => {
  const { take, shared, clock, state, lines } = make()
  state.broken = failures.rejects
  for (let i = 0; i < 3; i++) await take(['k'], bucket)
  state.broken = undefined
  await clock.advance(1000)
  await take(['k'], bucket)
  await settle()
  while ((await shared.take(['x'], bucket)) === 0);
  expect(await take(['x'], bucket)).toBeGreaterThan(0)
  expect(lines.map(({ event }) => event)).toEqual(['limits_local', 'limits_shared'])
})

test('a late response is not a token, and a late failure has no effect', async () => {
  const { take, clock, state } = make()
  let answer: (ms: number) => void = () => {}
  let refuse: (why: Error) => void = () => {}
  state.broken = () =>
    new Promise((resolve, reject) => {
      answer = resolve
      refuse = reject
    })
  const first = take(['k'], { burst: 1, perSecond: 0.001 })
  await clock.advance(250)
  expect(await first).toBe(0)
  answer(0)
  refuse(new Error('late'))
  expect(await take(['k'], { burst: 1, perSecond: 0.001 })).toBeGreaterThan(0)
})

test('a clock that was set back does not keep the store unused', async () => {
  let now = 1_000_000
  const clock = { now: () => now, after: () => () => {} }
  const local = memoryStore(clock)
  let asked = 0
  const store: Store = {
    ...local,
    take: () => (asked++ === 0 ? Promise.reject(new Error('away')) : Promise.resolve(7)),
  }
  const take = takeWithFallback({ store, local, clock, logger: { info() {}, warn() {}, error() {} } })
  await take(['k'], bucket)
  now = 0
  await take(['k'], bucket)
  await settle()
  expect(await take(['k'], bucket)).toBe(7)
})
