import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Answer, Result } from '../core/answer.ts'
import type { Call, Caller, Handler } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { fail, RpcError } from '../core/error.ts'
import { resolveInDoubt } from '../core/idempotency-record.ts'
import type { LogLine } from '../core/log.ts'
import { createProcessLease } from '../core/process-lease.ts'
import { createStop } from '../core/stop.ts'
import type { Store } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import type { IdempotencyOptions } from './idempotency.ts'
import { idempotencyLayer } from './idempotency.ts'
import { timeoutLayer } from './timeout.ts'

const ann: Caller = { ...anonymous, subject: 'ann', credential: 'token' }
const metaKey = 'dev.sluice/idempotencyKey'
const under = (key: unknown, overrides: Partial<Call> = {}): Call =>
  aCall({ caller: ann, meta: { [metaKey]: key }, facts: {}, ...overrides })
const overHttp = (idempotencyKey: string): Call['via'] => ({
  transport: 'http',
  peer: '',
  header: (name) => (name === 'idempotency-key' ? idempotencyKey : undefined),
})

function make(work: Handler = async () => ({ content: [] }), options: Partial<IdempotencyOptions> = {}, wrap = same) {
  const clock = fakeClock()
  const store = wrap(memoryStore(clock))
  const lines: LogLine[] = []
  const keep = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: keep, warn: keep, error: keep }
  let runs = 0
  let references = 0
  const counted: Handler = (call) => {
    runs++
    return work(call)
  }
  /** Of the process that `serve` and `layer` belong to. Each `start` is another process. */
  const lease = createProcessLease(store, clock)
  const layer = (given: Partial<IdempotencyOptions> = { lease }) =>
    idempotencyLayer(store, { clock, logger, newErrorId: () => `ref-${++references}`, ...options, ...given })
  const start = () => asyncPipeline([layer({})], counted)
  /** The first process is killed: it renews its lease no more. */
  const kill = (): Promise<void> => lease.close()
  return {
    serve: asyncPipeline([layer()], counted),
    start,
    kill,
    layer,
    clock,
    store,
    lines,
    counted,
    runs: () => runs,
  }
}
const same = (store: Store): Store => store
/** Work that ends when the test says so. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  return { work: () => promise, end: (answer: Result) => resolve(answer), fail: reject }
}
const conflict = (state: string) => ({ reason: 'conflict', data: { state } })

test('without a key every call runs, and nothing is stored', async () => {
  const { serve, runs, store } = make()
  await serve(aCall())
  await serve(aCall())
  expect(runs()).toBe(2)
  expect(await store.list([], { limit: 10 })).toEqual([])
})

test('of fifty concurrent calls with one key one runs, and all get the same bytes', async () => {
  const { work, end } = held()
  const { serve, runs } = make(work)
  const calls = Array.from({ length: 50 }, () => serve(under('k')))
  await settle()
  end({ content: [{ type: 'text', text: 'é' }], _meta: undefined, isError: false })
  const answers = await Promise.all(calls)
  answers.push(await serve(under('k')))
  expect(runs()).toBe(1)
  expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
    new Set(['{"content":[{"type":"text","text":"é"}],"isError":false}']),
  )
})

test('another process gets the recorded answer, and no second run', async () => {
  const { serve, start, runs } = make(async () => ({ content: [], n: 1 }))
  const first = await serve(under('k'))
  expect(await start()(under('k'))).toEqual(first)
  expect(runs()).toBe(1)
})

test('a failure is repeated unchanged, with the same reference', async () => {
  for (const thrown of [fail('Only 3 seats are left'), new RpcError('conflict', 'taken', { data: { by: 'bob' } })]) {
    const { serve, start, runs } = make(() => Promise.reject(thrown))
    const { reason, message, data } = thrown
    for (const process of [serve, start()]) {
      const call = under('k')
      await expect(process(call)).rejects.toMatchObject({ reason, message, data })
      expect(call.facts.reference).toBe('ref-1')
    }
    expect(runs()).toBe(1)
  }
})

test('a bug is stored without its text, and its cause is in the first log line only', async () => {
  const { serve, start, store } = make(() => Promise.reject(new Error('password is hunter2')))
  await expect(serve(under('k'))).rejects.toMatchObject({
    reason: 'toolCrashed',
    cause: { message: expect.stringMatching(/hunter2/) },
  })
  const again = await start()(under('k')).catch((thrown: unknown) => thrown)
  expect(again).toMatchObject({ reason: 'toolCrashed', cause: { message: expect.stringMatching(/Repeated/) } })
  expect(JSON.stringify(await store.list([], { limit: 10 }))).not.toContain('hunter2')
})

test('no two callers get the same error instance', async () => {
  const { work, fail: end } = held()
  const { serve } = make(work)
  const calls = [serve(under('k')), serve(under('k'))].map((call) => call.catch((thrown: unknown) => thrown))
  await settle()
  end(fail('no'))
  const [one, two] = await Promise.all(calls)
  expect(one).toEqual(two)
  expect(one).not.toBe(two)
})

test.each<[string, Partial<Call>]>([
  ['other arguments', { args: { n: 2 } }],
  ['other answers', { answers: { where: 'Brno' } }],
  ['another tool', { target: { ...aCall().target, name: 'another' } }],
])('the same key with %s is a conflict, while it runs and after', async (_, other) => {
  const { work, end } = held()
  const { serve, start, runs } = make(work)
  const first = serve(under('k', { args: { n: 1 } }))
  await settle()
  await expect(serve(under('k', { args: { n: 1 }, ...other }))).rejects.toMatchObject(conflict('other arguments'))
  await expect(start()(under('k', { args: { n: 1 }, ...other }))).rejects.toMatchObject(conflict('other arguments'))
  end({ content: [] })
  await first
  await expect(serve(under('k', { args: { n: 1 }, ...other }))).rejects.toMatchObject(conflict('other arguments'))
  expect(runs()).toBe(1)
})

test('members in another order are the same arguments', async () => {
  const { serve, runs } = make()
  await serve(under('k', { args: { a: 1, b: 2 } }))
  await serve(under('k', { args: { b: 2, a: 1 } }))
  expect(runs()).toBe(1)
})

test('the same key of another tenant, caller or ticket is another key, whatever the names contain', async () => {
  const part = fc.oneof(fc.constantFrom('a', 'b', 'a","b', '["a"]', 'client', 'ticket', ':', '/'), fc.string())
  const name = fc.record({
    tenant: part,
    subject: part,
    key: fc.constantFrom('k', 'client', '["k"]'.replaceAll('"', '')),
    ticket: fc.boolean(),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { selector: (each) => JSON.stringify(each), maxLength: 8 }),
      async (names) => {
        const { serve, runs } = make(async ({ tenant, caller, ticketId: key }) => ({
          of: [tenant.id, caller.subject, key],
        }))
        const callOf = ({ tenant, subject, key, ticket }: (typeof names)[number]): Call =>
          aCall({
            tenant: { ...aCall().tenant, id: tenant },
            caller: { ...ann, subject },
            ...(ticket ? { ticketId: key } : { meta: { [metaKey]: key } }),
          })
        for (let round = 0; round < 2; round++)
          for (const each of names) {
            const call = callOf(each)
            expect(await serve(call)).toEqual(
              JSON.parse(JSON.stringify({ of: [each.tenant, each.subject, call.ticketId] })),
            )
          }
        expect(runs()).toBe(names.length)
      },
    ),
    { numRuns: 50 },
  )
})

test('a call runs as long as its process, however long that is; after a crash it never runs again', async () => {
  const { serve, start, kill, clock, runs } = make(() => new Promise(() => {}))
  serve(under('k')).catch(expect.unreachable)
  await settle()
  const another = start()
  const inFlight = { reason: 'conflict', data: { state: 'in flight', retryAfterMs: 1000 } }
  await expect(another(under('k'))).rejects.toMatchObject(inFlight)
  await clock.advance(3_600_000)
  await expect(another(under('k'))).rejects.toMatchObject(inFlight)
  await kill()
  await clock.advance(14_999)
  await expect(another(under('k'))).rejects.toMatchObject(inFlight)
  await clock.advance(5_001)
  await expect(another(under('k'))).rejects.toMatchObject(conflict('in doubt'))
  await clock.advance(3_600_000)
  await expect(start()(under('k'))).rejects.toMatchObject(conflict('in doubt'))
  expect(runs()).toBe(1)
})

test('an idle process renews nothing', async () => {
  const { serve, clock, store } = make()
  await serve(under('k'))
  expect(clock.pending).toBe(0)
  await clock.advance(20_000)
  expect(await store.list(['process'], { limit: 10 })).toEqual([])
})

test('a key is forgotten a day after its last write', async () => {
  const { serve, clock, runs } = make()
  await serve(under('k'))
  await clock.advance(24 * 60 * 60_000 - 1)
  await serve(under('k'))
  expect(runs()).toBe(1)
  await clock.advance(1)
  await serve(under('k'))
  expect(runs()).toBe(2)
})

test.each([0, -1, Number.NaN])('a server that would keep keys for %d ms does not start', (keepMs) => {
  expect(() => make(undefined, { keepMs })).toThrow('"keepMs" must be at least 1')
})

test('a result that comes after the deadline reaches no caller and is stored', async () => {
  const { work, end } = held()
  const { layer, counted, start, clock, runs } = make(work)
  const late = expect(asyncPipeline([timeoutLayer(clock), layer()], counted)(under('k'))).rejects.toMatchObject({
    reason: 'timeout',
  })
  await clock.advance(30_000)
  await late
  await expect(start()(under('k'))).rejects.toMatchObject({ data: { state: 'in flight' } })
  end({ content: [], late: true })
  await settle()
  expect(await start()(under('k'))).toEqual({ content: [], late: true })
  expect(runs()).toBe(1)
})

test('a repetition of a call that was cancelled while it ran says so, and does not run again', async () => {
  const { serve, start, runs } = make(async ({ stop }) => {
    stop.stop(new RpcError('cancelled', 'Cancelled'))
    throw stop.reason
  })
  await expect(serve(under('k'))).rejects.toMatchObject(conflict('cancelled'))
  await expect(start()(under('k'))).rejects.toMatchObject(conflict('cancelled'))
  expect(runs()).toBe(1)
})

test('a call cancelled before it began leaves the key free, also for a call that waits for it', async () => {
  const { serve, start, runs } = make()
  const stop = createStop()
  const first = serve(under('k', { stop }))
  const second = serve(under('k'))
  stop.stop(new RpcError('cancelled', 'Cancelled'))
  await expect(first).rejects.toMatchObject({ reason: 'cancelled' })
  expect(await second).toEqual({ content: [] })
  await start()(under('k'))
  expect(runs()).toBe(1)
})

test('work that answers with a question is a bug of the tool, and does not run again under its key', async () => {
  const { serve, start, runs } = make(async () => ({ resultType: 'input_required', inputRequests: {} }))
  await expect(serve(under('k'))).rejects.toMatchObject({ reason: 'toolCrashed' })
  await expect(start()(under('k'))).rejects.toMatchObject({ reason: 'toolCrashed' })
  expect(runs()).toBe(1)
})

test('nothing runs if the store is unavailable before the run', async () => {
  const away = (store: Store): Store => ({
    ...store,
    swap: () => Promise.reject(new Error('redis://:pw@host refused')),
  })
  const { serve, runs, lines } = make(undefined, {}, away)
  const refused = await serve(under('k')).catch((thrown: unknown) => thrown)
  expect(refused).toMatchObject({ reason: 'storeUnavailable' })
  expect(JSON.stringify(refused)).not.toContain('redis')
  expect(runs()).toBe(0)
  expect(lines).toMatchObject([{ event: 'onceStore', tool: 'a-tool' }])
  await serve(aCall())
  expect(runs()).toBe(1)
})

test('an unreadable record counts as used, not as free', async () => {
  const { serve, runs } = make(undefined, {}, (store) => ({
    ...store,
    swap: async () => false,
    get: async () => '{"half a rec',
  }))
  await expect(serve(under('k'))).rejects.toMatchObject({ reason: 'storeUnavailable' })
  expect(runs()).toBe(0)
})

test('a claim that was written although its response was lost is still ours', async () => {
  let swaps = 0
  const { serve, start, runs } = make(undefined, {}, (store) => ({
    ...store,
    swap: async (...args) => (await store.swap(...args)) && ++swaps > 1,
  }))
  expect(await serve(under('k'))).toEqual({ content: [] })
  expect(await start()(under('k'))).toEqual({ content: [] })
  expect(runs()).toBe(1)
})

test('a store that is unavailable after the run costs the caller nothing, and gets the answer later', async () => {
  let swaps = 0
  const { serve, start, clock, runs, lines } = make(
    async () => ({ content: [], n: 1 }),
    {},
    (store) => ({
      ...store,
      swap: (...args) => (++swaps === 2 ? Promise.reject(new Error('unavailable')) : store.swap(...args)),
    }),
  )
  expect(await serve(under('k'))).toEqual({ content: [], n: 1 })
  expect(lines).toMatchObject([
    { event: 'onceNotRecorded', tool: 'a-tool', reference: 'ref-1', errorMessage: 'unavailable' },
  ])
  await expect(start()(under('k'))).rejects.toMatchObject({ data: { state: 'in flight' } })
  await clock.advance(1_000)
  expect(await start()(under('k'))).toEqual({ content: [], n: 1 })
  expect(runs()).toBe(1)
  expect(clock.pending).toBe(0)
})

test('an answer that could not be recorded is in doubt once its process has ended', async () => {
  let swaps = 0
  const { serve, start, kill, clock, runs } = make(
    async () => ({ content: [], n: 1 }),
    { releaser: { schedule() {}, scheduleOutcome() {}, close: async () => {} } },
    (store) => ({
      ...store,
      swap: (...args) => (++swaps === 2 ? Promise.reject(new Error('unavailable')) : store.swap(...args)),
    }),
  )
  expect(await serve(under('k'))).toEqual({ content: [], n: 1 })
  await kill()
  await clock.advance(20_000)
  await expect(start()(under('k'))).rejects.toMatchObject(conflict('in doubt'))
  expect(runs()).toBe(1)
})

test('a call that ended as its process closed is not in doubt', async () => {
  const { work, end } = held()
  let closing: (() => Promise<void>) | undefined
  const { serve, start, runs } = make(work, {}, (store) => ({
    ...store,
    async get(key) {
      if (key[0] !== 'process' || !closing) return store.get(key)
      await closing()
      return undefined
    },
  }))
  const first = serve(under('k'))
  await settle()
  closing = async () => {
    end({ content: ['done'] })
    await first
  }
  expect(await start()(under('k'))).toEqual({ content: ['done'] })
  expect(runs()).toBe(1)
})

test('a result beyond the limit is answered once, and a repetition learns that it ran', async () => {
  const { serve, start, runs, store } = make(async () => ({ content: [], text: 'x'.repeat(2000) }), { maxRecord: 1000 })
  expect(await serve(under('k'))).toHaveProperty('text')
  await expect(start()(under('k'))).rejects.toMatchObject(conflict('done'))
  await expect(start()(under('k', { args: { n: 2 } }))).rejects.toMatchObject(conflict('other arguments'))
  expect(runs()).toBe(1)
  expect(JSON.stringify(await store.list([], { limit: 10 }))).not.toContain('xx')
})

test('a result that is not JSON is a failure for the first caller and for the next', async () => {
  const { serve, start, runs } = make(async () => ({ content: [], n: 1n }))
  await expect(serve(under('k'))).rejects.toMatchObject({ reason: 'toolCrashed' })
  await expect(start()(under('k'))).rejects.toMatchObject({ reason: 'toolCrashed' })
  expect(runs()).toBe(1)
})

test('reads ignore the key', async () => {
  const { serve, runs } = make()
  const target = { ...aCall().target, kind: 'resource' as const }
  await serve(under('k', { target }))
  await serve(under('k', { target }))
  expect(runs()).toBe(2)
})

test('the header counts over HTTP, bare or quoted, and is the same key as in _meta', async () => {
  const { serve, runs } = make()
  await serve(under(undefined, { via: overHttp('k') }))
  await serve(under(undefined, { via: overHttp('"k"') }))
  await serve(under('k', { via: overHttp('k') }))
  await serve(under('k'))
  expect(runs()).toBe(1)
})

test('a header of a socket belongs to no message', async () => {
  const { serve, runs } = make()
  const via = { ...overHttp('k'), transport: 'websocket' as const }
  await serve(under(undefined, { via }))
  await serve(under(undefined, { via }))
  expect(runs()).toBe(2)
})

test.each<[unknown, string | undefined]>([
  ['', undefined],
  ['a b', undefined],
  ['a\n', undefined],
  ['klíč', undefined],
  ['a"b', undefined],
  ['k'.repeat(256), undefined],
  [1, undefined],
  [null, undefined],
  [{}, undefined],
  [undefined, ''],
  [undefined, 'a, b'],
  [undefined, '""'],
  ['a', 'b'],
])('the key %j with the header %j is refused, and nothing runs', async (key, header) => {
  const { serve, runs } = make()
  const call = under(key, header === undefined ? {} : { via: overHttp(header) })
  await expect(serve(call)).rejects.toMatchObject({
    reason: 'invalidParams',
    message: expect.stringMatching(/idempotency key/),
  })
  expect(runs()).toBe(0)
})

test('an unauthenticated caller over the network needs a key that is hard to guess', async () => {
  const { serve } = make()
  const call = (key: string): Call => under(undefined, { caller: anonymous, via: overHttp(key) })
  await expect(serve(call('order-42'))).rejects.toMatchObject({
    reason: 'invalidParams',
    message: expect.stringMatching(/guess/),
  })
  await expect(serve(call('8e03978e-40d5-43dd-bc93-6894a57f9324'))).resolves.toEqual({ content: [] })
  await expect(serve(under('order-42', { caller: anonymous }))).resolves.toEqual({ content: [] })
})

test('a ticket decides before the client’s own key', async () => {
  const { serve, runs } = make()
  await serve(under('one', { ticketId: 'ticket' }))
  await serve(under('two', { ticketId: 'ticket' }))
  expect(runs()).toBe(1)
})

test('a claim that reached the store although its response was lost is released, because nothing ran under it', async () => {
  let [lose, late]: [boolean, (() => Promise<boolean>)[]] = [true, []]
  const losing = (store: Store): Store => ({
    ...store,
    // Sent but not answered: it takes effect when the store handles it.
    swap(...args) {
      if (!lose) return store.swap(...args)
      late.push(() => store.swap(...args))
      return Promise.reject(new RpcError('storeUnavailable', 'away'))
    },
  })
  const { serve, runs, clock } = make(undefined, {}, losing)
  await expect(serve(under('k'))).rejects.toMatchObject({ reason: 'storeUnavailable' })
  await clock.advance(5_000)
  lose = false
  for (const write of late.splice(0, 1)) await write()
  await expect(serve(under('k'))).rejects.toMatchObject(conflict('in flight'))
  await clock.advance(60_000)
  await serve(under('k'))
  expect(runs()).toBe(1)
  expect(clock.pending).toBe(0)
})

test('claims to release do not pile up, and are not retried for ever', async () => {
  const away = (store: Store): Store => ({ ...store, swap: () => Promise.reject(new Error('away')) })
  const { serve, clock } = make(undefined, {}, away)
  for (let i = 0; i < 1_100; i++) await serve(under(`k${i}`)).catch(() => {})
  expect(clock.pending).toBe(1_000)
  await clock.advance(3_600_000)
  expect(clock.pending).toBe(0)
}, 60_000)

test('an operator resolves a call in doubt, of the right tenant and caller only', async () => {
  const hung = make(() => new Promise(() => {}))
  const { store, clock } = hung
  const claim = { tenant: 'default', subject: 'ann', name: { client: 'k' } } as const
  expect(await resolveInDoubt(store, claim, 'ran')).toBe('not in doubt')
  hung.serve(under('k')).catch(expect.unreachable)
  await settle()
  expect(await resolveInDoubt(store, claim, 'did not run')).toBe('in flight')
  await clock.advance(3_600_000)
  expect(await resolveInDoubt(store, claim, 'did not run')).toBe('in flight')
  await hung.kill()
  await clock.advance(20_000)
  for (const other of [{ tenant: 'b' }, { subject: 'bob' }, { name: { ticket: 'k' } }])
    expect(await resolveInDoubt(store, { ...claim, ...other }, 'did not run')).toBe('not in doubt')
  expect(await resolveInDoubt(store, claim, 'ran')).toBe('resolved')
  await expect(hung.start()(under('k'))).rejects.toMatchObject(conflict('done'))
  expect(await resolveInDoubt(store, claim, 'did not run')).toBe('not in doubt')
})

test('a call that did not run may run again, and the late end of the first run does not overwrite it', async () => {
  const { work, end } = held()
  let runs = 0
  const { serve, start, kill, store, clock, lines } = make((call) =>
    ++runs === 1 ? work() : Promise.resolve({ run: 2, of: call.id }),
  )
  const first = serve(under('k'))
  await settle()
  await kill()
  await clock.advance(20_000)
  const claim = { tenant: 'default', subject: 'ann', name: { client: 'k' } } as const
  expect(await resolveInDoubt(store, claim, 'did not run')).toBe('resolved')
  expect(await start()(under('k'))).toMatchObject({ run: 2 })
  end({ run: 1 })
  expect(await first).toEqual({ run: 1 })
  expect(lines).toMatchObject([{ event: 'onceNotRecorded' }])
  expect(await start()(under('k'))).toMatchObject({ run: 2 })
})
