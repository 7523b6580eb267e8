import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Call, Layer } from '../core/call.ts'

import { digest } from '../core/digest.ts'
import { fail, RpcError } from '../core/error.ts'
import { sha256 } from '../core/sha256.ts'
import type { Key, Store } from '../core/store.ts'
import { observeLayer } from '../layers/observe.ts'
import { createServices } from '../services.ts'
import { memoryStore } from '../stores/memory.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import type { FakeClock } from '../testing/clock.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import type { Audit, AuditOptions } from './audit.ts'
import { createAudit } from './audit.ts'
import { createChain } from './chain.ts'
import { verifyAudit } from './chain-verify.ts'

interface Bench {
  readonly audit: Audit
  readonly clock: FakeClock
  serve(call: Call): Promise<unknown>
}
let benches = 0
/** The audit, and what it contributes to a server on the same store. */
function open(store: Store, clock: FakeClock, options: AuditOptions = {}) {
  const audit = createAudit({ ...options, store, clock })
  const { observer = {}, layer = (next) => next } = audit.create(createServices({ name: 'test', store, clock }))
  return { audit, observer, layer }
}
function audited(store: Store, options: AuditOptions = {}, work = async () => ({ content: [] })): Bench {
  const process = ++benches
  const clock = fakeClock(1000)
  const { audit, observer, layer } = open(store, clock, options)
  const serve = asyncPipeline([observeLayer([observer], clock, () => `ref-${process}`), layer], work)
  return { audit, clock, serve: (call) => serve(call).catch((thrown: unknown) => thrown) }
}
const ofTenant = (id: string): Partial<Call> => ({ tenant: { ...aCall().tenant, id } })

type Row = { readonly [field: string]: unknown }
const rowsKey = (tenant = 'default'): Key => ['audit', 'rows', tenant]
async function records(store: Store, tenant = 'default'): Promise<Row[]> {
  const entries = await store.list(rowsKey(tenant), { limit: 1_000_000 })
  return entries.flatMap(({ value }) => value.split('\n').map((line) => JSON.parse(line.slice(65)) as Row))
}

/** A store whose verbs all fail, or hang, while `mode` says so. */
function moody(store: Store): Store & { mode: 'well' | 'away' | 'hangs' } {
  const guarded =
    <A extends readonly unknown[], R>(verb: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> =>
      moody.mode === 'well'
        ? verb(...args)
        : moody.mode === 'away'
          ? Promise.reject(new Error('away'))
          : new Promise<R>(() => {})
  const moody = {
    mode: 'well' as 'well' | 'away' | 'hangs',
    ...store,
    get: guarded(store.get),
    swap: guarded(store.swap),
  }
  return moody
}

test('a call makes one record before the run and one at its end, linked by name, with a digest of the arguments', async () => {
  const store = memoryStore(fakeClock())
  const before: Row[][] = []
  const { audit, serve } = audited(store, { blocking: true }, async () => {
    before.push(await records(store))
    return { content: [] }
  })
  await serve(aCall({ id: 'a', args: { card: '4111' } }))
  await audit.flush()
  const { writer, call } = (await records(store))[0] ?? {}
  expect(call).toMatch(/^[0-9a-f-]{13}$/)
  const started = {
    ...{ seq: 1, at: 1000, kind: 'started', call, id: 'a', method: 'tools/call', target: 'a-tool' },
    ...{ caller: 'anonymous', credential: 'none', definition: '', args: digest({ card: '4111' }), writer },
  }
  expect(before).toEqual([[started]])
  expect(await records(store)).toEqual([
    started,
    {
      ...{ seq: 2, at: 1000, kind: 'ended', call, id: 'a', method: 'tools/call', target: 'a-tool' },
      ...{ caller: 'anonymous', credential: 'none', outcome: 'complete', durationMs: 0, writer },
    },
  ])
})

test('a refusal is recorded although nothing ran, with what was requested', async () => {
  const store = memoryStore(fakeClock())
  const clock = fakeClock()
  const { audit, observer } = open(store, clock)
  const refuse = (): Promise<never> => Promise.reject(new RpcError('insufficientScope', 'no'))
  const serve = observeLayer([observer], clock, () => 'ref-1')(refuse)
  await expect(serve(aCall({ args: { a: 1 }, facts: { caller: 'mallory', tenant: 'acme' } }))).rejects.toThrow()
  await audit.flush()
  expect(await records(store, 'acme')).toEqual([
    expect.objectContaining({
      ...{ kind: 'ended', outcome: 'insufficientScope', caller: 'mallory', reference: 'ref-1', args: digest({ a: 1 }) },
    }),
  ])
})

test('the record of the end has the caller and tenant that inner layers found on a copy', async () => {
  const store = memoryStore(fakeClock())
  const clock = fakeClock()
  const { audit, observer, layer } = open(store, clock)
  const identify: Layer = (next) => (call) =>
    next({ ...call, ...ofTenant('acme'), caller: { ...call.caller, subject: 'alice' } })
  const serve = asyncPipeline([observeLayer([observer], clock, () => 'ref-1'), identify, layer], async () => ({}))
  await serve(aCall())
  await audit.flush()
  expect(await records(store, 'acme')).toMatchObject([
    { kind: 'started', caller: 'alice' },
    { kind: 'ended', caller: 'alice' },
  ])
  expect(await records(store, 'default')).toEqual([])
})

test('lists and pings are not recorded, unless they are refused', async () => {
  const store = memoryStore(fakeClock())
  const ping = { ...aCall().target, kind: 'method' as const, name: 'ping' }
  const well = audited(store)
  await well.serve(aCall({ target: ping }))
  await well.audit.flush()
  expect(await records(store)).toEqual([])
  const refused = audited(store, {}, () => Promise.reject(new RpcError('rateLimited', 'no')))
  await refused.serve(aCall({ target: ping }))
  await refused.audit.flush()
  expect(await records(store)).toMatchObject([{ outcome: 'rateLimited', target: 'ping' }])
})

test('calls with arguments that are not JSON are recorded too', async () => {
  const store = memoryStore(fakeClock())
  const { audit, serve } = audited(store)
  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  for (const args of [cycle, undefined]) await serve(aCall({ args }))
  await audit.flush()
  expect((await records(store)).filter(({ args }) => args === 'not JSON')).toHaveLength(2)
})

test('of 10 000 calls of two tenants, every start and end is recorded once, in its tenant’s own chain', async () => {
  const store = memoryStore(fakeClock())
  const { audit, serve } = audited(store, { maxQueued: 100_000 })
  const calls = 10_000
  await Promise.all(
    Array.from({ length: calls }, (_, id) => serve(aCall({ id, ...ofTenant(id % 2 ? 'odd' : 'even') }))),
  )
  await audit.flush()
  for (const [tenant, rest] of [
    ['even', 0],
    ['odd', 1],
  ] as const) {
    const all = await records(store, tenant)
    const ids = (kind: string): unknown[] => all.filter((row) => row['kind'] === kind).map(({ id }) => id)
    const own = Array.from({ length: calls / 2 }, (_, at) => at * 2 + rest)
    expect(ids('started')).toEqual(own)
    expect(new Set(ids('ended'))).toEqual(new Set(own))
    expect(all).toHaveLength(calls)
    expect(await verifyAudit(store, tenant)).toMatchObject({ intact: true, records: calls })
  }
})

test('processes that share a store build one chain', async () => {
  const store = memoryStore(fakeClock())
  const several = Array.from({ length: 4 }, () => audited(store))
  await Promise.all(several.flatMap(({ serve }) => Array.from({ length: 50 }, () => serve(aCall()))))
  await Promise.all(several.map(({ audit }) => audit.flush()))
  expect(await verifyAudit(store, 'default')).toMatchObject({ intact: true, records: 400 })
  // One that starts later continues from there.
  const late = audited(store)
  late.audit.record('default', 'decided', { ticket: 't-1' })
  await late.audit.flush()
  expect(await verifyAudit(store, 'default')).toMatchObject({ intact: true, records: 401 })
})

/** Builds a chain of rows with one to three records each. */
async function aChain(sizes: readonly number[]): Promise<Store> {
  const store = memoryStore(fakeClock())
  const append = createChain(store, 'acme', 'me')
  let n = 0
  for (const size of sizes) await append(Array.from({ length: size }, () => ({ kind: 'test', n: n++ })))
  return store
}
const someSizes = fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 2, maxLength: 12 })
/** Sizes of the rows, and one of them. */
const aRow = someSizes.chain((sizes) => fc.tuple(fc.constant(sizes), fc.nat({ max: sizes.length - 1 })))
const firstOf = (sizes: readonly number[], row: number): number =>
  sizes.slice(0, row).reduce((sum, size) => sum + size, 1)
const entryOf = async (store: Store, row: number): Promise<{ key: Key; value: string }> =>
  (await store.list(rowsKey('acme'), { limit: 1000 }))[row] ?? expect.unreachable()

test('an unchanged chain is intact', async () => {
  await fc.assert(
    fc.asyncProperty(someSizes, async (sizes) => {
      const records = firstOf(sizes, sizes.length) - 1
      expect(await verifyAudit(await aChain(sizes), 'acme')).toMatchObject({ intact: true, records })
    }),
  )
  expect(await verifyAudit(memoryStore(fakeClock()), 'nobody')).toEqual({ intact: true, records: 0, head: '' })
})

test('one changed character is detected, and its record is named', async () => {
  await fc.assert(
    fc.asyncProperty(aRow, fc.nat(), async ([sizes, row], at) => {
      const store = await aChain(sizes)
      const { key, value } = await entryOf(store, row)
      const index = at % value.length
      const changed = value[index] === '0' ? '1' : '0'
      await store.set(key, value.slice(0, index) + changed + value.slice(index + 1))
      const seq = firstOf(sizes, row) + value.slice(0, index).split('\n').length - 1
      expect(await verifyAudit(store, 'acme')).toEqual({ intact: false, seq, problem: 'altered' })
    }),
  )
})

test('no character of a row can change unnoticed', async () => {
  const store = await aChain([2, 1])
  const { key, value } = await entryOf(store, 0)
  for (let at = 0; at < value.length; at++) {
    await store.set(key, `${value.slice(0, at)}~${value.slice(at + 1)}`)
    expect(await verifyAudit(store, 'acme'), `at ${at}`).toMatchObject({ intact: false, problem: 'altered' })
  }
})

test('a record rewritten with a valid hash does not match the next one, or the head', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.nat(), async (length, at) => {
      const store = await aChain(Array.from({ length }, () => 1))
      const row = at % length
      const before = row === 0 ? '' : (await entryOf(store, row - 1)).value.slice(0, 64)
      const { key, value } = await entryOf(store, row)
      const body = value.slice(65).replace('"kind":"test"', '"kind":"forged"')
      await store.set(key, `${sha256(`${before}\n${body}`)} ${body}`)
      const seq = Math.min(row + 2, length)
      expect(await verifyAudit(store, 'acme')).toEqual({ intact: false, seq, problem: 'altered' })
    }),
  )
})

test('a removed row is detected and named, including the last one', async () => {
  await fc.assert(
    fc.asyncProperty(aRow, async ([sizes, row]) => {
      const store = await aChain(sizes)
      await store.delete((await entryOf(store, row)).key)
      expect(await verifyAudit(store, 'acme')).toEqual({ intact: false, seq: firstOf(sizes, row), problem: 'missing' })
    }),
  )
})

test('a record removed from its row is detected and named', async () => {
  await fc.assert(
    fc.asyncProperty(aRow, fc.nat(), async ([sizes, row], at) => {
      const store = await aChain(sizes)
      const { key, value } = await entryOf(store, row)
      const lines = value.split('\n')
      const removed = at % lines.length
      await store.set(key, lines.toSpliced(removed, 1).join('\n'))
      const verdict = await verifyAudit(store, 'acme')
      expect(verdict).toMatchObject({ intact: false, seq: firstOf(sizes, row) + removed })
    }),
  )
})

test('two swapped rows are detected, and the first is named', async () => {
  const twoRows = aRow.filter(([sizes, row]) => row + 1 < sizes.length)
  await fc.assert(
    fc.asyncProperty(twoRows, async ([sizes, row]) => {
      const store = await aChain(sizes)
      const [a, b] = [await entryOf(store, row), await entryOf(store, row + 1)]
      await store.set(a.key, b.value)
      await store.set(b.key, a.value)
      expect(await verifyAudit(store, 'acme')).toEqual({ intact: false, seq: firstOf(sizes, row), problem: 'altered' })
    }),
  )
})

test('an inserted row is detected and named, at any position', async () => {
  await fc.assert(
    fc.asyncProperty(aRow, async ([sizes, row]) => {
      const store = await aChain(sizes)
      const { key, value } = await entryOf(store, row)
      await store.set([...key.slice(0, -1), `${key.at(-1)}x`], value)
      expect(await verifyAudit(store, 'acme')).toMatchObject({ intact: false, problem: 'inserted' })
    }),
  )
  const store = await aChain([3, 1])
  await store.set([...rowsKey('acme'), '2'.padStart(16, '0')], (await entryOf(store, 0)).value)
  expect(await verifyAudit(store, 'acme')).toEqual({ intact: false, seq: 2, problem: 'inserted' })
})

test('a rewritten chain does not match a head that was kept elsewhere', async () => {
  const [store, other] = [await aChain([2, 2]), memoryStore(fakeClock())]
  await createChain(other, 'acme', 'me')([{ kind: 'forged' }])
  await createChain(other, 'acme', 'me')([{ kind: 'forged' }, { kind: 'forged' }, { kind: 'forged' }])
  for (const { key } of await store.list(rowsKey('acme'), { limit: 9 })) await store.delete(key)
  for (const { key, value } of await other.list(rowsKey('acme'), { limit: 9 })) await store.set(key, value)
  expect(await verifyAudit(store, 'acme')).toEqual({ intact: false, seq: 4, problem: 'altered' })
})

test('an unavailable store stops no call, and waiting records are written later, once and in order', async () => {
  const store = moody(memoryStore(fakeClock()))
  const { audit, serve, clock } = audited(store)
  await serve(aCall({ id: 1 }))
  store.mode = 'away'
  for (const id of [2, 3]) expect(await serve(aCall({ id }))).toEqual({ content: [] })
  await clock.advance(5_000)
  store.mode = 'well'
  await clock.advance(1_000)
  expect((await records(store)).map(({ id, kind }) => [id, kind])).toEqual(
    [1, 2, 3].flatMap((id) => [
      [id, 'started'],
      [id, 'ended'],
    ]),
  )
  expect(await verifyAudit(store, 'default')).toMatchObject({ intact: true, records: 6 })
  expect([audit.dropped, clock.pending]).toEqual([0, 0])
})

test('a write that reached the store before it failed is not written twice', async () => {
  const inner = memoryStore(fakeClock())
  let broken = true
  const store: Store = {
    ...inner,
    async swap(...args) {
      const won = await inner.swap(...args)
      if (broken) throw new Error('connection lost')
      return won
    },
  }
  const { serve, clock } = audited(store)
  await serve(aCall())
  await settle()
  broken = false
  await clock.advance(1_000)
  expect(await verifyAudit(store, 'default')).toMatchObject({ intact: true, records: 2 })
})

test.each(['never', 'late'])('a write that hangs is repeated, and what it writes %s counts once', async (when) => {
  const kept = memoryStore()
  const hung = Promise.withResolvers<void>()
  let isHanging = true
  const store: Store = {
    ...kept,
    async swap(...swap) {
      if (isHanging) {
        isHanging = false
        await hung.promise
      }
      return kept.swap(...swap)
    },
  }
  const { audit, clock } = audited(store)
  audit.record('acme', 'test', { n: 1 })
  await settle()
  // Another process takes the number that the write was for.
  await createChain(kept, 'acme', 'other')([{ kind: 'test', n: 0 }])
  await clock.advance(30_000)
  audit.record('acme', 'test', { n: 2 })
  await settle()
  if (when === 'late') hung.resolve()
  await settle()
  audit.record('acme', 'test', { n: 3 })
  await audit.flush()
  expect((await records(kept, 'acme')).map(({ n }) => n)).toEqual([0, 1, 2, 3])
  expect(await audit.verify('acme')).toMatchObject({ intact: true, records: 4 })
  expect(await kept.get(['audit', 'heads', 'acme'])).toMatch(/^4 /)
})

test('beyond the limit records are dropped and counted, and the log records it', async () => {
  const store = moody(memoryStore(fakeClock()))
  store.mode = 'away'
  const { audit, serve, clock } = audited(store, { maxQueued: 4 })
  for (let id = 0; id < 5; id++) expect(await serve(aCall({ id }))).toEqual({ content: [] })
  expect(audit.dropped).toBe(6)
  store.mode = 'well'
  await clock.advance(1_000)
  expect(await records(store)).toContainEqual(expect.objectContaining({ kind: 'dropped', records: 6 }))
  expect(await verifyAudit(store, 'default')).toMatchObject({ intact: true, records: 5 })
})

test.each(['away', 'hangs'] as const)('with `blocking`, nothing runs while the store %s', async (mode) => {
  const store = moody(memoryStore(fakeClock()))
  let ran = 0
  const { serve, clock } = audited(store, { blocking: true }, async () => {
    ran++
    return { content: [] }
  })
  await serve(aCall())
  store.mode = mode
  const refused = serve(aCall())
  await clock.advance(1_000)
  expect(await refused).toMatchObject({ reason: 'storeUnavailable' })
  expect(ran).toBe(1)
})

test('with `blocking`, a failure during the run is answered unchanged', async () => {
  const store = memoryStore(fakeClock())
  const { serve } = audited(store, { blocking: true }, () => Promise.reject(fail('Only 3 seats are left')))
  expect(await serve(aCall())).toMatchObject({ reason: 'toolFailed' })
})

test('closing writes the waiting records, and does not wait for ever', async () => {
  const store = moody(memoryStore(fakeClock()))
  store.mode = 'away'
  const first = audited(store)
  await first.serve(aCall())
  store.mode = 'well'
  await first.audit.close()
  expect(await records(store)).toHaveLength(2)
  expect(first.clock.pending).toBe(0)
  store.mode = 'hangs'
  const second = audited(store)
  await second.serve(aCall())
  let closed = false
  second.audit.close().then(() => {
    closed = true
  }, expect.unreachable)
  await second.clock.advance(5_000)
  expect(closed).toBe(true)
})
