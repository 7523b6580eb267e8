/** Work that asks while it runs: one run, answered through any process, in every era. */

import type { Clock, Params, Store, Tool } from 'sluice'
import { ask, fail, memoryStore, tool } from 'sluice'

import { nodeClock } from 'sluice/node'
import type { ParkOptions } from 'sluice/plugins'
import { elicitation, idempotency, park, tenants } from 'sluice/plugins'
import type { FakeClock } from 'sluice/testing'
import { fakeClock, settle } from 'sluice/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { memoryBus } from '../../packages/sluice/src/stores/memory-bus.ts'
import type { SendOptions, TasksFixture } from '../kit/servers/tasks.fixture.ts'
import { openTasks, withTasks } from '../kit/servers/tasks.fixture.ts'

const named = z.object({ name: z.string() })
const form: SendOptions = { capabilities: { elicitation: { form: {} } } }

interface Parked {
  readonly runs: readonly string[]
  /** Opens another process on the same store. */
  open(): TasksFixture
  call(process: TasksFixture, name: string, options?: SendOptions): Promise<Params>
  /** Repeats a call with the state and the answers of the questions. */
  answer(process: TasksFixture, name: string, asked: Params, answers: Params, options?: SendOptions): Promise<Params>
}

function openParked(
  options: ParkOptions = {},
  clock: Clock = nodeClock,
  around: (store: Store) => Store = (store) => store,
): Parked {
  const store = around(memoryStore(clock))
  const bus = memoryBus()
  const runs: string[] = []
  const tools = [
    tool({
      name: 'trip',
      description: 'Asks twice while it works',
      asksWhileRunning: true,
      async run(_input, { ask: question, progress }) {
        runs.push('trip')
        const { who } = await question({ who: ask.form('Who?', named) })
        progress(1, 2)
        const { where, when } = await question({ where: ask.form('Where?', named), when: ask.form('When?', named) })
        return `${who.name}, ${where.name}, ${when.name}`
      },
    }),
    tool({
      name: 'both',
      description: 'Asks two things at once, in two calls',
      asksWhileRunning: true,
      async run(_input, { ask: question }) {
        runs.push('both')
        const asked = [question({ a: ask.form('A?', named) }), question({ a: ask.form('B?', named) })]
        const answers = await Promise.all(asked)
        return answers.map(({ a }) => a.name).join(' ')
      },
    }),
    tool({
      name: 'stubborn',
      description: 'Answers when it is stopped',
      asksWhileRunning: true,
      async run(_input, { ask: question }) {
        runs.push('stubborn')
        await question({ who: ask.form('Who?', named) })
        throw fail('No seats are left')
      },
    }),
    tool({
      name: 'quick',
      description: 'Asks nothing after all',
      asksWhileRunning: true,
      run: () => 'quick',
    }),
  ] satisfies Tool[]
  const open = (): TasksFixture =>
    openTasks({
      ...{ clock, store, bus, tools },
      use: () => [
        tenants({ claim: ({ claims }) => claims['org'] ?? 'main' }),
        park(options),
        elicitation(),
        idempotency(),
      ],
    })
  return {
    runs,
    open,
    call: (process, name, given = form) => process.call(name, {}, given),
    answer: (process, name, { requestState }, answers, given = form) =>
      process.call(name, {}, { ...given, more: { requestState, inputResponses: answers } }),
  }
}
/** Lets the gathering of questions pass. */
async function gathered(clock: FakeClock, result: Promise<Params>): Promise<Params> {
  await settle()
  await clock.advance(10)
  return result
}
const accept = (name: string): Params => ({ action: 'accept', content: { name } })
const keys = (result: Params): readonly string[] => Object.keys(result['inputRequests'] as Params)

test('a call asks twice in its middle, and runs once', async () => {
  const { open, call, answer, runs } = openParked()
  const server = open()
  const first = await call(server, 'trip')
  expect(first).toMatchObject({
    resultType: 'input_required',
    inputRequests: { 'who.1': { method: 'elicitation/create', params: { message: 'Who?' } } },
    requestState: expect.any(String),
  })
  const second = await answer(server, 'trip', first, { 'who.1': accept('Ada') })
  expect(keys(second)).toEqual(['where.2', 'when.2'])
  const last = await answer(server, 'trip', second, { 'where.2': accept('Hanoi'), 'when.2': accept('May') })
  expect(last).toMatchObject({ content: [{ text: 'Ada, Hanoi, May' }] })
  expect(runs).toEqual(['trip'])
})

test('answers come through any process', async () => {
  const { open, call, answer, runs } = openParked()
  const [owner, other, third] = [open(), open(), open()]
  const first = await call(owner, 'trip')
  const second = await answer(other, 'trip', first, { 'who.1': accept('Ada') })
  expect(keys(second)).toEqual(['where.2', 'when.2'])
  const last = await answer(third, 'trip', second, { 'where.2': accept('Hanoi'), 'when.2': accept('May') })
  expect(last).toMatchObject({ content: [{ text: 'Ada, Hanoi, May' }] })
  expect(runs).toEqual(['trip'])
})

test('a lost answer can be asked for again, through any process', async () => {
  const { open, call, answer, runs } = openParked()
  const [owner, other] = [open(), open()]
  const first = await call(owner, 'trip')
  const second = await answer(owner, 'trip', first, { 'who.1': accept('Ada') })
  const again = await answer(other, 'trip', first, { 'who.1': accept('Eve') })
  expect(keys(again)).toEqual(['where.2', 'when.2'])
  const answers = { 'where.2': accept('Hanoi'), 'when.2': accept('May') }
  const last = await answer(owner, 'trip', second, answers)
  expect(await answer(other, 'trip', second, answers)).toMatchObject({ content: last['content'] })
  expect(await answer(owner, 'trip', again, answers)).toMatchObject({ content: [{ text: 'Ada, Hanoi, May' }] })
  expect(runs).toEqual(['trip'])
})

test('missing and unusable answers are asked for again', async () => {
  const { open, call, answer } = openParked()
  const server = open()
  const first = await call(server, 'trip')
  const wrong = await answer(server, 'trip', first, { 'who.1': { action: 'accept', content: { name: 7 } } })
  expect(keys(wrong)).toEqual(['who.2'])
  const second = await answer(server, 'trip', wrong, { 'who.2': accept('Ada') })
  const half = await answer(server, 'trip', second, { 'where.3': accept('Hanoi') })
  expect(keys(half)).toEqual(['when.3'])
  expect(await answer(server, 'trip', half, { 'when.3': accept('May') })).toMatchObject({
    content: [{ text: 'Ada, Hanoi, May' }],
  })
})

test('questions that are asked at once are one round', async () => {
  const { open, call, answer } = openParked()
  const server = open()
  const first = await call(server, 'both')
  expect(keys(first)).toEqual(['a.1', 'a-2.1'])
  expect(await answer(server, 'both', first, { 'a.1': accept('one'), 'a-2.1': accept('two') })).toMatchObject({
    content: [{ text: 'one two' }],
  })
})

test('another caller, other arguments and a changed state do not continue the call', async () => {
  const { open, call, answer, runs } = openParked()
  const server = open()
  const first = await call(server, 'trip')
  const refused = { code: -32602 }
  expect(await answer(server, 'trip', first, { 'who.1': accept('Eve') }, { ...form, as: 'eve' })).toMatchObject(refused)
  expect(await answer(server, 'both', first, { 'who.1': accept('Eve') })).toMatchObject(refused)
  const state = String(first['requestState'])
  const changed = { requestState: `${state.slice(0, -2)}${state.endsWith('AA') ? 'BB' : 'AA'}` }
  expect(await answer(server, 'trip', changed, { 'who.1': accept('Eve') })).toMatchObject(refused)
  expect(keys(await answer(server, 'trip', first, { 'who.1': accept('Ada') }))).toEqual(['where.2', 'when.2'])
  expect(runs).toEqual(['trip'])
})

test('a person who declines ends the call with an answer for the model', async () => {
  const { open, call, answer } = openParked()
  const server = open()
  const first = await call(server, 'trip')
  expect(await answer(server, 'trip', first, { 'who.1': { action: 'decline' } })).toMatchObject({
    isError: true,
    content: [{ text: 'The person declined.' }],
  })
})

test('a question that stays open ends the call, and the store forgets it', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { open, answer } = openParked({ parkMs: 60_000 }, clock)
  const server = open()
  const first = await gathered(clock, server.call('stubborn', {}, form))
  await clock.advance(60_000)
  await settle()
  expect(await answer(server, 'stubborn', first, { 'who.1': accept('Ada') })).toMatchObject({ code: -32602 })
  expect(clock.pending).toBe(0)
})

test('a process that ends leaves its calls in doubt: none runs again', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { open, answer, runs } = openParked({}, clock)
  const [owner, other] = [open(), open()]
  const first = await gathered(clock, owner.call('trip', {}, form))
  owner.kill()
  await clock.advance(20_000)
  const late = other.call(
    'trip',
    {},
    {
      ...form,
      more: { requestState: first['requestState'], inputResponses: { 'who.1': accept('Ada') } },
    },
  )
  await settle()
  await clock.advance(5_000)
  expect(await late).toMatchObject({ code: -32603, data: { state: 'in doubt' } })
  expect(await answer(other, 'trip', first, { 'who.1': accept('Ada') })).toMatchObject({ data: { state: 'in doubt' } })
  expect(runs).toEqual(['trip'])
})

test('a call under a key that is repeated while it is parked gets the open question', async () => {
  const { open, call, answer, runs } = openParked()
  const [owner, other] = [open(), open()]
  const keyed = { ...form, meta: { 'dev.sluice/idempotencyKey': 'a-key' } }
  await call(owner, 'trip', keyed)
  const again = await call(other, 'trip', keyed)
  expect(keys(again)).toEqual(['who.1'])
  const second = await answer(other, 'trip', again, { 'who.1': accept('Ada') }, keyed)
  const last = await answer(other, 'trip', second, { 'where.2': accept('Hanoi'), 'when.2': accept('May') }, keyed)
  expect(last).toMatchObject({ content: [{ text: 'Ada, Hanoi, May' }] })
  expect(await call(owner, 'trip', keyed)).toMatchObject({ content: [{ text: 'Ada, Hanoi, May' }] })
  expect(runs).toEqual(['trip'])
})

test.each([
  ['caller', { perCaller: 2 }, 'ann.acme', 'bob.acme'],
  ['tenant', { perTenant: 2 }, 'bob.acme', 'eve.other'],
  ['process', { perProcess: 2 }, 'eve.other', undefined],
])('parked calls of one %s are limited, and one that ends makes room', async (scope, caps, refused, accepted) => {
  const { open, call, answer } = openParked(caps)
  const server = open()
  const as = (name: string): SendOptions => ({ ...form, as: name })
  const first = await call(server, 'trip', as('ann.acme'))
  expect(await call(server, 'trip', as('ann.acme'))).toMatchObject({ resultType: 'input_required' })
  expect(await call(server, 'trip', as(refused))).toMatchObject({
    ...{ code: 42900, data: { reason: 'rateLimited', retryAfterMs: 5_000 } },
    message: `Too many parked calls of this ${scope} are open: wait until one ends, then try again`,
  })
  if (accepted) expect(await call(server, 'trip', as(accepted))).toMatchObject({ resultType: 'input_required' })
  await answer(server, 'trip', first, { 'who.1': { action: 'decline' } }, as('ann.acme'))
  expect(await call(server, 'trip', as(refused))).toMatchObject({ resultType: 'input_required' })
})

test('a client that leaves while its question is written holds no place', async () => {
  const writing = Promise.withResolvers<void>()
  const written = Promise.withResolvers<void>()
  const { open, call } = openParked({ perCaller: 1 }, nodeClock, (store) => ({
    ...store,
    async swap(key, ...rest) {
      if (key[2] === 'parked') {
        writing.resolve()
        await written.promise
      }
      return store.swap(key, ...rest)
    },
  }))
  const server = open()
  const gone = new AbortController()
  const left = server.call('trip', {}, { ...form, signal: gone.signal }).catch(() => undefined)
  await writing.promise
  gone.abort()
  await settle()
  written.resolve()
  await left
  await settle()
  expect(await call(server, 'trip')).toMatchObject({ resultType: 'input_required' })
})

test('a client that declared tasks gets a task', async () => {
  const { open, call } = openParked()
  const server = open()
  const created = await call(server, 'trip', { capabilities: withTasks })
  expect(created).toMatchObject({ resultType: 'task' })
  await settle()
  expect(await server.get(created['taskId'], { capabilities: withTasks })).toMatchObject({ status: 'input_required' })
})

test('work that asks nothing is a plain call, and writes nothing', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { open, call } = openParked({}, clock)
  expect(await call(open(), 'quick')).toMatchObject({ content: [{ text: 'quick' }] })
  expect(clock.pending).toBe(0)
})

test('a client that cannot be asked is told what is missing', async () => {
  const { open, call } = openParked()
  expect(await call(open(), 'trip', { capabilities: {} })).toMatchObject({
    data: { requiredCapabilities: { elicitation: { form: {} } } },
  })
})

test('a shutdown waits for parked calls, then fails them with a reason', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { open, answer } = openParked({}, clock)
  const [owner, other] = [open(), open()]
  const first = await gathered(clock, owner.call('trip', {}, form))
  const down = owner.server.shutDown(1_000)
  await clock.advance(2_000)
  await down
  await settle()
  expect(await answer(other, 'trip', first, { 'who.1': accept('Ada') })).toMatchObject({
    data: { reason: 'shuttingDown' },
  })
})

/** Work that asks `who`, and ends when a test says so. It waits for the answer unless it is hasty. */
function slowAsker(isHasty = false): { readonly tools: readonly Tool[]; end(text: string): void } {
  const ended = Promise.withResolvers<string>()
  return {
    end: ended.resolve,
    tools: [
      tool({
        name: 'slow',
        description: 'Asks, and works on',
        asksWhileRunning: true,
        async run(_input, { ask: question }) {
          const asked = question({ who: ask.form('Who?', named) })
          if (isHasty) asked.catch(() => {})
          else await asked
          return ended.promise
        },
      }),
    ],
  }
}

test('work that ends while its question is written holds no place', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { tools, end } = slowAsker(true)
  const written = Promise.withResolvers<void>()
  const store = memoryStore(clock)
  const server = openTasks({
    ...{ clock, tools },
    store: {
      ...store,
      async swap(key, ...rest) {
        if (key[2] === 'parked') await written.promise
        return store.swap(key, ...rest)
      },
    },
    use: () => [park(), elicitation()],
  })
  const answered = server.call('slow', {}, form)
  await settle()
  await clock.advance(10)
  end('done')
  expect(await answered).toMatchObject({ content: [{ text: 'done' }] })
  written.resolve()
  await settle()
  expect(clock.pending).toBe(0)
})

test('a call that ended as its process closed is not in doubt', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { tools, end } = slowAsker()
  const { inProcess: _, ...store } = memoryStore(clock)
  const given = Promise.withResolvers<void>()
  let isClosing = false
  const open = (around: Store): TasksFixture =>
    // Separate buses, so that no message is received.
    openTasks({ clock, store: around, bus: memoryBus(), tools, use: () => [park(), elicitation()] })
  const owner = open(store)
  const other = open({
    ...store,
    async get(key) {
      if (!isClosing || key[2] !== 'process') return store.get(key)
      end('done')
      await settle()
      return undefined
    },
    async swap(...swap) {
      const isSwapped = await store.swap(...swap)
      given.resolve()
      return isSwapped
    },
  })
  const first = await gathered(clock, owner.call('slow', {}, form))
  const more = { requestState: first['requestState'], inputResponses: { 'who.1': accept('Ada') } }
  const late = other.call('slow', {}, { ...form, more })
  await given.promise
  await clock.advance(5_000)
  isClosing = true
  await clock.advance(5_000)
  expect(await late).toMatchObject({ content: [{ text: 'done' }] })
})

test('a question whose key could not be remembered leaves no record behind', async () => {
  let isFailing = true
  const { open, call, runs } = openParked({}, nodeClock, (store) => ({
    ...store,
    async set(key, ...rest) {
      await store.set(key, ...rest)
      if (isFailing && key[2] === 'parked-key') throw new Error('The answer was lost')
    },
  }))
  const server = open()
  const keyed = { ...form, meta: { 'dev.sluice/idempotencyKey': 'a-key' } }
  const failed = await call(server, 'trip', keyed)
  expect(failed).toMatchObject({ isError: true })
  isFailing = false
  expect(await call(server, 'trip', keyed)).toMatchObject({ isError: true })
  expect(runs).toEqual(['trip'])
})

test('an answer is asked for again while the store does not take the outcome', async () => {
  const clock = fakeClock(1_700_000_000_000)
  let isFailing = true
  let looked = Promise.withResolvers<void>()
  const { tools, end } = slowAsker()
  const store = memoryStore(clock)
  const server = openTasks({
    ...{ clock, tools },
    store: {
      ...store,
      async get(key) {
        const value = await store.get(key)
        if (key[2] === 'parked') looked.resolve()
        return value
      },
      async swap(key, from, to, ttlMs) {
        if (isFailing && to.includes('"outcome"')) throw new Error('The store is away')
        return store.swap(key, from, to, ttlMs)
      },
    },
    use: () => [park(), elicitation()],
  })
  const first = await gathered(clock, server.call('slow', {}, form))
  const more = { requestState: first['requestState'], inputResponses: { 'who.1': accept('Ada') } }
  const answered = server.call('slow', {}, { ...form, more })
  await looked.promise
  await settle()
  end('done')
  expect(await answered).toMatchObject({ content: [{ text: 'done' }] })
  looked = Promise.withResolvers()
  const again = server.call('slow', {}, { ...form, more })
  await looked.promise
  await settle()
  isFailing = false
  await clock.advance(1_000)
  expect(await again).toMatchObject({ content: [{ text: 'done' }] })
})
