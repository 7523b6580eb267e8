import { expect, test } from 'vitest'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { fakeClock } from '../testing/clock.ts'
import type { RunningCall } from './record.ts'
import { runningCallToText, WrittenResult } from './record.ts'
import { createRunningCallStore } from './running-call-store.ts'
import { finish, report } from './transitions.ts'

const aRecord: RunningCall = {
  ...{ id: 'one', tenant: 'acme', subject: 'ann', tool: 'pay', definition: '', digest: '', process: 'p' },
  ...{ createdAt: 0, changedAt: 0, until: 60_000, rounds: 0, questions: {}, answers: {} },
}

function openCalls() {
  const clock = fakeClock()
  const store = memoryStore(clock)
  let reads = 0
  const counting: Store = {
    ...store,
    get(key) {
      reads++
      return store.get(key)
    },
  }
  const calls = createRunningCallStore(counting, clock, 'task')
  return { calls, other: createRunningCallStore(store, clock, 'task'), readCount: () => reads }
}

test('a step on the record that this process wrote last reads nothing', async () => {
  const { calls, other, readCount } = openCalls()
  const created = await calls.create(aRecord)
  const reported = await calls.change('acme', 'one', report('p', 'half way'), created)
  const ended = await calls.change('acme', 'one', finish('p', { result: {} }), reported)
  expect([reported?.changed, ended?.changed, readCount()]).toEqual([true, true, 0])
  expect(await other.read('acme', 'one')).toMatchObject({ message: 'half way', outcome: { result: {} } })
})

test('a step on a record that another process has changed is taken on what is there', async () => {
  const { calls, other } = openCalls()
  const created = await calls.create(aRecord)
  await other.change('acme', 'one', report('p', 'half way'))
  expect(await calls.change('acme', 'one', finish('p', { result: { n: 1 } }), created)).toMatchObject({
    ...{ changed: true, call: { message: 'half way', outcome: { result: { n: 1 } } } },
  })
  // It changes nothing, by the record of the store and not by the older one.
  expect(await calls.change('acme', 'one', finish('p', { result: { n: 2 } }), created)).toMatchObject({
    ...{ changed: false, call: { outcome: { result: { n: 1 } } } },
  })
})

test('a record whose time is up is not changed, however well this process remembers it', async () => {
  const clock = fakeClock()
  const store = memoryStore(clock)
  // A store whose own clock is behind.
  const late: Store = { ...store, swap: (key, from, to) => store.swap(key, from, to) }
  const calls = createRunningCallStore(late, clock, 'task')
  const created = await calls.create(aRecord)
  await clock.advance(60_000)
  expect(await calls.change('acme', 'one', finish('p', { result: {} }), created)).toBeUndefined()
})

test('a result that becomes text once is read back like any other', async () => {
  const result = { resultType: 'complete', content: [{ type: 'text', text: '"quoted" \ud800' }] } as const
  const ended: RunningCall = { ...aRecord, outcome: new WrittenResult(result) }
  expect(JSON.parse(runningCallToText(ended))).toEqual({ ...aRecord, outcome: { result } })
  expect(ended.outcome).toMatchObject({ result })
  expect(() => new WrittenResult({ n: 1n })).toThrow(TypeError)
})
