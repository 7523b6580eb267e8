/**
 * What every store and bus promises, as tests: `storeContract('mine', () => …)` in a Vitest file.
 *
 * The only file of ours that needs Vitest at run time, so it is not imported by anything but tests.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Bus } from '../core/bus.ts'
import type { Entry, Key, Store } from '../core/store.ts'
import { below } from '../core/store.ts'
import { inOrder, liesBelow, random, strangeKeys } from './contract-keys.ts'
import type { Elsewhere } from './contract-processes.ts'
import { inProcesses } from './contract-processes.ts'

export type { Elsewhere } from './contract-processes.ts'

/** A store nobody else uses, opened anew for each test. */
export interface OpenedStore {
  readonly store: Store
  /** For stores that outlive their process: ends this one without warning and opens the same data again. */
  reopen?(): Promise<Store>
  /** A second handle to the same data, as another process would have. */
  another?(): Promise<Store>
  readonly elsewhere?: Elsewhere
  /** Moves the store's clock where it can be moved; otherwise the tests wait for real, shortly and bounded. */
  advance?(ms: number): void | Promise<void>
  close(): Promise<void>
}

export function storeContract(name: string, open: () => OpenedStore | Promise<OpenedStore>): void {
  const promise = (sentence: string, body: (opened: OpenedStore) => Promise<void>): void =>
    test(sentence, async () => {
      const opened = await open()
      try {
        await body(opened)
      } finally {
        await opened.close()
      }
    })
  describe(`${name} keeps the contract of a store`, () => {
    describe('values', () => values(promise))
    describe('expiry', () => expiry(promise))
    describe('keys', () => keys(promise))
    describe('lists and logs', () => lists(promise))
    describe('races', () => races(promise))
    describe('buckets', () => buckets(promise))
  })
}
type Promises = (sentence: string, body: (opened: OpenedStore) => Promise<void>) => void

/** Until it holds, for stores whose clock cannot be moved. */
async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`Not within five seconds: ${what}`)
}
const all: { readonly limit: number } = { limit: 10_000 }
const valuesOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ value }) => value)
const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
const handlesOf = async ({ store, another }: OpenedStore): Promise<readonly Store[]> =>
  another ? [store, await another(), await another()] : [store]

function values(promise: Promises): void {
  promise('what is set is there, until it is set again or deleted', async ({ store }) => {
    expect(await store.get(['a'])).toBeUndefined()
    await store.set(['a'], '1')
    await store.set(['a'], '2')
    expect(await store.get(['a'])).toBe('2')
    await store.delete(['a'])
    await store.delete(['a'])
    expect(await store.get(['a'])).toBeUndefined()
  })

  promise('an empty value is a value', async ({ store }) => {
    await store.set(['a'], '')
    expect(await store.get(['a'])).toBe('')
    expect(await store.swap(['a'], undefined, 'x')).toBe(false)
    expect(await store.swap(['a'], '', 'x')).toBe(true)
  })

  promise('values come back byte for byte, up to a mebibyte', async ({ store }) => {
    const awkward = '\0 "\\\r\n\u2028 é e\u0301 \ufffd \u{1f600} null 1e400 '
    const large = awkward
      .repeat(1 + 2 ** 20 / awkward.length)
      .slice(0, 2 ** 20)
      .toWellFormed()
    await store.set(['large'], large)
    expect((await store.get(['large'])) === large).toBe(true)
    expect(await store.swap(['large'], large, awkward)).toBe(true)
    expect(await store.get(['large'])).toBe(awkward)
    const at = await store.append(['log'], large)
    expect((await store.list(['log'], all)).map(({ key, value }) => [key, value === large])).toEqual([[at, true]])
  })

  promise('half of a surrogate pair is refused or comes back, never changed', async ({ store }) => {
    await store.set(['a'], '\ud800').catch(() => {})
    expect(['\ud800', undefined]).toContain(await store.get(['a']))
    await store.set(['b'], '\ufffd')
    expect(await store.swap(['b'], '\ud800', 'x').catch(() => false)).toBe(false)
  })

  promise('a restart keeps what was acknowledged', async ({ store, reopen }) => {
    if (!reopen) return
    await store.set(['a'], '1')
    await store.set(['b'], '2', 3_600_000)
    await store.swap(['c'], undefined, '3')
    await store.delete(['a'])
    const at = await store.append(['log'], 'first')
    expect(await store.take(['t'], { capacity: 1, perSecond: 0.001 })).toBe(0)
    const again = await reopen()
    expect(await again.list([], all)).toEqual([
      { key: ['b'], value: '2' },
      { key: ['c'], value: '3' },
      { key: at, value: 'first' },
    ])
    expect(inOrder(await again.append(['log'], 'second'), at)).toBeGreaterThan(0)
    expect(await again.take(['t'], { capacity: 1, perSecond: 0.001 })).toBeGreaterThan(0)
  })
}

function expiry(promise: Promises): void {
  /** Long enough to be seen alive on a busy machine. */
  const short = 1000
  const pass = async ({ advance }: OpenedStore, gone: () => Promise<boolean>, what: string): Promise<void> => {
    if (!advance) return eventually(gone, what)
    await advance(short - 1)
    expect(await gone()).toBe(false)
    await advance(1)
    expect(await gone()).toBe(true)
  }

  promise('what has a time to live is gone after it, for every verb', async (opened) => {
    const { store } = opened
    await Promise.all([store.set(['a', '1'], 'x', short), store.append(['a', 'log'], 'x', short)])
    await Promise.all([store.swap(['a', '2'], undefined, 'x', short), store.set(['a', 'stays'], 'x')])
    expect(await store.list(['a'], all)).toHaveLength(4)
    await pass(opened, async () => (await store.list(['a'], all)).length === 1, 'three of four expire')
    expect(await store.get(['a', '1'])).toBeUndefined()
    expect(await store.swap(['a', '2'], 'x', 'y')).toBe(false)
    expect(await store.swap(['a', '2'], undefined, 'y')).toBe(true)
    expect(await store.get(['a', '2'])).toBe('y')
  })

  promise('the last write decides how long', async (opened) => {
    const { store } = opened
    await Promise.all([store.set(['a'], '1', short), store.set(['b'], '1', short), store.set(['c'], '1', short)])
    await store.set(['a'], '2')
    expect(await store.swap(['b'], '1', '2')).toBe(true)
    await store.set(['c'], '2', 3_600_000)
    await store.set(['last'], 'x', short)
    await pass(opened, async () => (await store.get(['last'])) === undefined, 'the last one expires')
    expect(await store.list([], all)).toEqual(['a', 'b', 'c'].map((part) => ({ key: [part], value: '2' })))
  })

  promise('no time to live is over at once, and none that is not a number is taken', async ({ store }) => {
    await store.set(['a'], '1')
    await store.set(['a'], '2', 0)
    expect(await store.get(['a'])).toBeUndefined()
    expect(await store.swap(['a'], undefined, '3', -5)).toBe(true)
    expect(await store.list([], all)).toEqual([])
    await store.set(['b'], '1', 1e300)
    await store.set(['c'], '1', Number.POSITIVE_INFINITY)
    await store.set(['d'], '1', 3_600_000.5)
    expect(await store.list([], all)).toHaveLength(3)
    await expect(store.set(['e'], '1', Number.NaN)).rejects.toThrow()
  })
}

function keys(promise: Promises): void {
  for (const seed of [1, 2, 3])
    promise(
      `no two of 200 strange keys are the same, and no prefix reaches another's (seed ${seed})`,
      async ({ store }) => {
        const strange = strangeKeys(seed, 200)
        await Promise.all(strange.map((key) => store.set(key, JSON.stringify(key))))
        for (const key of strange) expect(await store.get(key)).toBe(JSON.stringify(key))
        for (const prefix of [[], ...strange.filter((key) => key.length > 0)]) {
          const expected = strange.filter((key) => liesBelow(key, prefix)).toSorted(inOrder)
          expect((await store.list(prefix, all)).map(({ key }) => key)).toEqual(expected)
        }
        const [odd, even] = [strange.filter((_, i) => i % 2 === 1), strange.filter((_, i) => i % 2 === 0)]
        await Promise.all(odd.map((key) => store.delete(key)))
        for (const key of odd) expect(await store.get(key)).toBeUndefined()
        for (const key of even) expect(await store.get(key)).toBe(JSON.stringify(key))
      },
    )

  promise('every key has a bucket of its own, apart from its value', async ({ store }) => {
    const strange = strangeKeys(4, 100)
    const once = { capacity: 1, perSecond: 0.001 }
    const waits = await Promise.all(strange.map((key) => store.take(key, once)))
    expect(waits).toEqual(strange.map(() => 0))
    expect(await store.list([], all)).toEqual([])
    await Promise.all(strange.map((key) => store.delete(key)))
    for (const key of strange.slice(0, 20)) expect(await store.take(key, once)).toBeGreaterThan(0)
  })

  promise('half of a surrogate pair in a key is refused or kept apart', async ({ store }) => {
    await store.set(['\ufffd'], 'replacement')
    await store.set(['\ud800'], 'half').catch(() => {})
    await store.append(['\udfff'], 'half').catch(() => {})
    expect(await store.get(['\ufffd'])).toBe('replacement')
    expect(['half', undefined]).toContain(await store.get(['\ud800']).catch(() => undefined))
    expect(await store.get(['\ud801']).catch(() => undefined)).toBeUndefined()
    expect(await store.list(['\ufffd'], all)).toEqual([])
  })

  // One line for each verb, or this does not compile: a verb added to `Store` is tried here too.
  const trespasses: { readonly [verb in keyof Store]: (store: Store, key: Key) => Promise<unknown> } = {
    get: (store, key) => store.get(key),
    set: (store, key) => store.set(key, 'mine'),
    swap: async (store, key) => ((await store.swap(key, 'secret', 'mine')) ? 'swapped' : undefined),
    delete: (store, key) => store.delete(key),
    take: async (store, key) => ((await store.take(key, { capacity: 1, perSecond: 0.001 })) > 0 ? 'empty' : undefined),
    append: async (store, key) => void (await store.append(key, 'mine')),
    list: async (store, key) => (await store.list(key.slice(0, -1), all)).find(({ value }) => value === 'secret'),
  }
  for (const [verb, trespass] of Object.entries(trespasses))
    promise(`${verb} with another tenant's key finds nothing and changes nothing`, async ({ store }) => {
      const once = { capacity: 1, perSecond: 0.001 }
      for (const [a, b] of [
        ['a', 'b'],
        ['a', 'a:b'],
        ['a:b', 'a'],
        ['', 'a'],
        ['a', 'a\0'],
        ['a', '"a"'],
        ['a', 'A'],
      ] as const) {
        const pair = below(store, [a, b])
        const [theirs, own] = [below(pair, ['tenant', a]), below(pair, ['tenant', b])]
        await theirs.set(['x', 'id'], 'secret')
        await theirs.take(['x', 'id'], once)
        const was = await theirs.list([], all)
        for (const key of [
          ['x', 'id'],
          ['tenant', a, 'x', 'id'],
          ['..', a, 'x', 'id'],
        ])
          expect(await trespass(own, key)).toBeUndefined()
        expect(await theirs.list([], all)).toEqual(was)
        expect(await theirs.take(['x', 'id'], once)).toBeGreaterThan(0)
      }
    })
}

function lists(promise: Promises): void {
  promise('a list is in order, below its prefix at any depth, a page at a time', async ({ store }) => {
    const inside = range(25).map((i): Key => (i % 3 === 0 ? ['p', String(i), 'deep'] : ['p', String(i)]))
    const outside: readonly Key[] = [['p'], ['pp'], ['o', '1'], ['q', '1'], ['P', '1']]
    await Promise.all([...inside, ...outside].map((key) => store.set(key, key.join())))
    const expected = inside.toSorted(inOrder)
    const walked: Key[] = []
    for (;;) {
      const after = walked.at(-1)
      const page = await store.list(['p'], { limit: 4, ...(after && { after }) })
      expect(page.length).toBeLessThanOrEqual(4)
      expect(valuesOf(page)).toEqual(page.map(({ key }) => key.join()))
      if (page.length === 0) break
      walked.push(...page.map(({ key }) => key))
    }
    expect(walked).toEqual(expected)
  })

  promise('a cursor need not exist any more, and never widens the prefix', async ({ store }) => {
    await Promise.all(
      [
        ['a', '1'],
        ['a', '3'],
        ['b', '1'],
        ['c', '1'],
      ].map((key) => store.set(key, key.join())),
    )
    expect(valuesOf(await store.list(['a'], { limit: 9, after: ['a', '2'] }))).toEqual(['a,3'])
    expect(valuesOf(await store.list(['b'], { limit: 9, after: ['a', '1'] }))).toEqual(['b,1'])
    expect(valuesOf(await store.list(['b'], { limit: 9, after: [] }))).toEqual(['b,1'])
    expect(await store.list(['b'], { limit: 9, after: ['c'] })).toEqual([])
    expect(await store.list(['b'], { limit: 9, after: ['b', '1'] })).toEqual([])
  })

  promise('a page of nothing is empty, one below nothing is refused', async ({ store }) => {
    await store.set(['a'], 'x')
    expect(await store.list([], { limit: 0 })).toEqual([])
    expect(await store.list([], { limit: Number.POSITIVE_INFINITY })).toHaveLength(1)
    await expect(store.list([], { limit: -1 })).rejects.toThrow()
    await expect(store.list([], { limit: Number.NaN })).rejects.toThrow()
  })

  promise('a log keeps the order in which its lines were acknowledged, whoever wrote them', async (opened) => {
    const handles = await handlesOf(opened)
    const keys: Key[] = []
    for (const i of range(12)) {
      const handle = handles[i % handles.length] ?? opened.store
      keys.push(await handle.append(['log', 'a'], String(i)))
      await handle.append(['log', 'b'], 'other')
    }
    const expected = range(12).map((i) => ({ key: keys[i], value: String(i) }))
    for (const handle of handles) expect(await handle.list(['log', 'a'], all)).toEqual(expected)
    expect(keys.every((key) => liesBelow(key, ['log', 'a']) && key.length === 3)).toBe(true)
  })

  promise('a place in a log is never given twice, so that no reader misses a line', async ({ store }) => {
    const first = await store.append(['log'], '1')
    await store.delete(first)
    const second = await store.append(['log'], '2', 1)
    const third = await store.append(['log'], '3')
    expect([inOrder(second, first) > 0, inOrder(third, second) > 0]).toEqual([true, true])
    const at = await Promise.all(range(50).map((i) => store.append(['many'], String(i))))
    expect(new Set(at.map((key) => key.join())).size).toBe(50)
  })
}

function races(promise: Promises): void {
  promise('of many who swap from the same value one wins', async (opened) => {
    const handles = await handlesOf(opened)
    let from: string | undefined
    for (const round of range(10)) {
      const names = range(30).map((i) => `${round} ${i}`)
      const pick = (i: number): Store => handles[i % handles.length] ?? opened.store
      const won = await Promise.all(names.map((name, i) => pick(i).swap(['k'], from, name)))
      const winners = names.filter((_, i) => won[i])
      expect(winners).toHaveLength(1)
      from = await opened.store.get(['k'])
      expect(from).toBe(winners[0])
    }
  })

  promise('counting by swaps loses nothing', async (opened) => {
    const handles = await handlesOf(opened)
    const count = async (store: Store): Promise<void> => {
      for (;;) {
        const seen = await store.get(['n'])
        if (await store.swap(['n'], seen, String(Number(seen ?? 0) + 1))) return
      }
    }
    await Promise.all(range(24).map((i) => count(handles[i % handles.length] ?? opened.store)))
    expect(await opened.store.get(['n'])).toBe('24')
  })

  const names = ['p', 'q', 'r', 's']

  promise('of several processes that swap from the same value one wins', async ({ store, elsewhere }) => {
    if (!elsewhere) return
    const won = await inProcesses(names, 'swap', elsewhere)
    const winners = [...won].flatMap(([who, keys]) => (keys as number[]).map((key) => [key, who] as const))
    expect(winners.map(([key]) => key).toSorted((a, b) => a - b)).toEqual(range(100))
    for (const [key, who] of winners) expect(await store.get(['race', String(key)])).toBe(who)
  })

  promise('several processes share one bucket and get what one would', async ({ elsewhere }) => {
    if (!elsewhere) return
    const got = await inProcesses(names, 'take', elsewhere)
    expect([...got.values()].reduce((sum: number, n) => sum + Number(n), 0)).toBe(50)
  })

  promise('several processes write one log: no line is lost, each keeps its order', async ({ store, elsewhere }) => {
    if (!elsewhere) return
    const places = await inProcesses(names, 'append', elsewhere)
    const lines = await store.list(['race'], all)
    expect(lines).toHaveLength(40)
    for (const [who, keys] of places) {
      const own = lines.filter(({ value }) => value.startsWith(`${who} `))
      expect(valuesOf(own)).toEqual(range(10).map((i) => `${who} ${i}`))
      expect(own.map(({ key }) => key)).toEqual(keys)
    }
  })
}

function buckets(promise: Promises): void {
  promise('a bucket gives its capacity at once, then says how long', async ({ store, advance }) => {
    const bucket = { capacity: 3, perSecond: 2 }
    const waits = [await store.take(['k'], bucket), await store.take(['k'], bucket), await store.take(['k'], bucket)]
    expect(waits).toEqual([0, 0, 0])
    const wait = await store.take(['k'], bucket)
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(500)
    // Whoever is refused pays nothing: asking again does not put the end off.
    for (const _ of range(20)) expect(await store.take(['k'], bucket)).toBeLessThanOrEqual(wait)
    if (advance) {
      await advance(wait - 1)
      expect(await store.take(['k'], bucket)).toBe(1)
      await advance(1)
      expect(await store.take(['k'], bucket)).toBe(0)
    } else await eventually(async () => (await store.take(['k'], bucket)) === 0, 'the bucket fills')
    expect(await store.take(['k'], bucket)).toBeGreaterThan(0)
  })

  for (const seed of range(20))
    promise(`no schedule gets more than capacity and rate allow, none starves (seed ${seed})`, async (opened) => {
      const below = random(seed)
      const bucket = { capacity: 1 + below(8), perSecond: [0.5, 1, 3, 7, 10, 333, 1000][below(7)] ?? 1 }
      const { store, advance } = opened
      // Real clocks are hammered in one test below; drawing schedules for them would only be slow.
      if (!advance) return
      const granted: number[] = []
      let now = 0
      const pass = async (ms: number): Promise<void> => {
        now += ms
        await advance(ms)
      }
      for (const _ of range(150)) {
        const wait = await store.take(['k'], bucket)
        if (wait === 0) granted.push(now)
        else if (below(4) === 0) {
          await pass(wait)
          expect(await store.take(['k'], bucket), 'after waiting as long as told').toBe(0)
          granted.push(now)
        }
        if (below(2) === 0) await pass(below(Math.ceil(3000 / bucket.perSecond)))
      }
      for (const [i, from] of granted.entries())
        for (const [j, to] of granted.entries())
          if (j >= i)
            expect(j - i + 1).toBeLessThanOrEqual(bucket.capacity + ((to - from) / 1000) * bucket.perSecond + 1e-3)
    })

  promise('by a real clock too a bucket gives its capacity and its rate, no more and no less', async (opened) => {
    if (opened.advance) return
    const handles = await handlesOf(opened)
    const bucket = { capacity: 5, perSecond: 100 }
    let granted = 0
    const begin = performance.now()
    let asked = begin
    while (performance.now() - begin < 400) {
      asked = performance.now()
      const waits = await Promise.all(handles.map((store) => store.take(['k'], bucket)))
      granted += waits.filter((ms) => ms === 0).length
    }
    const upTo = (ms: number): number => bucket.capacity + (ms / 1000) * bucket.perSecond
    // One more at most: the store's clock may tick in milliseconds.
    expect(granted).toBeLessThanOrEqual(upTo(performance.now() - begin) + 1)
    expect(granted).toBeGreaterThanOrEqual(upTo(asked - begin) - bucket.capacity - 1)
  })

  promise('a bucket that could never give, or never fill, is refused', async ({ store }) => {
    for (const bucket of [
      { capacity: 0, perSecond: 1 },
      { capacity: 1, perSecond: 0 },
      { capacity: Number.NaN, perSecond: 1 },
      { capacity: 1, perSecond: -1 },
      { capacity: Number.POSITIVE_INFINITY, perSecond: 1 },
    ])
      await expect(store.take(['k'], bucket)).rejects.toThrow()
  })

  promise('a bucket made smaller or slower gives no more than its new size', async ({ store }) => {
    expect(await store.take(['k'], { capacity: 1000, perSecond: 0.001 })).toBe(0)
    const waits = await Promise.all(range(10).map(() => store.take(['k'], { capacity: 2, perSecond: 0.001 })))
    expect(waits.filter((ms) => ms === 0)).toHaveLength(2)
  })
}

/** A bus nobody else uses. */
export interface OpenedBus {
  readonly bus: Bus
  /** As another process would have it. */
  another?(): Promise<Bus>
  close(): Promise<void>
}

export function busContract(name: string, open: () => OpenedBus | Promise<OpenedBus>): void {
  const promise = (sentence: string, body: (opened: OpenedBus) => Promise<void>): void =>
    test(sentence, async () => {
      const opened = await open()
      try {
        await body(opened)
      } finally {
        await opened.close()
      }
    })
  const heardBy = (bus: Bus, channel: string): { readonly heard: string[]; end(): void } => {
    const heard: string[] = []
    return { heard, end: bus.subscribe(channel, (message) => heard.push(message)) }
  }
  const until = (holds: () => boolean, what: string): Promise<void> => eventually(async () => holds(), what)

  describe(`${name} keeps the contract of a bus`, () => {
    promise('what a process publishes after subscribing it hears, in order', async ({ bus }) => {
      const { heard } = heardBy(bus, 'a')
      for (const i of range(20)) await bus.publish('a', String(i))
      await until(() => heard.length === 20, 'all twenty are heard')
      expect(heard).toEqual(range(20).map(String))
    })

    promise('others hear it too', async ({ bus, another }) => {
      if (!another) return
      const other = await another()
      const { heard } = heardBy(other, 'a')
      // A subscription takes a moment to reach the others; from then on nothing is missed.
      await eventually(async () => {
        await bus.publish('a', 'hello')
        return heard.length > 0
      }, 'the other hears')
      await bus.publish('a', 'last')
      await until(() => heard.at(-1) === 'last', 'the other hears the last')
    })

    promise('channels are apart, whatever their names', async ({ bus }) => {
      const names = ['', 'a', 'a:b', 'a*', '*', '?', '[a]', 'a\0b', 'a b', 'é', '\u{1f600}']
      const heard = names.map((channel) => heardBy(bus, channel).heard)
      for (const channel of names) await bus.publish(channel, `to ${channel}`)
      await until(() => heard.every(({ length }) => length > 0), 'each hears')
      expect(heard).toEqual(names.map((channel) => [`to ${channel}`]))
    })

    promise('who unsubscribed hears no more, and takes nobody along', async ({ bus }) => {
      const [first, second] = [heardBy(bus, 'a'), heardBy(bus, 'a')]
      await bus.publish('a', '1')
      await until(() => second.heard.length === 1, 'both hear')
      first.end()
      first.end()
      const third = heardBy(bus, 'a')
      await bus.publish('a', '2')
      await until(() => second.heard.length === 2 && third.heard.length === 1, 'the others hear')
      for (const { end } of [second, third]) end()
      const fourth = heardBy(bus, 'a')
      second.end()
      await bus.publish('a', '3')
      await until(() => fourth.heard.length === 1, 'a late one hears')
      expect([first.heard, second.heard, third.heard]).toEqual([['1'], ['1', '2'], ['2']])
    })

    promise('one that throws keeps nobody from hearing, nor from publishing', async ({ bus }) => {
      bus.subscribe('a', () => {
        throw new Error('of one hearer')
      })
      const { heard } = heardBy(bus, 'a')
      await bus.publish('a', '1')
      await until(() => heard.length === 1, 'the other hears')
      await bus.publish('a', '2')
      await until(() => heard.length === 2, 'again')
    })

    promise('large and strange messages arrive as they were sent', async ({ bus }) => {
      const { heard } = heardBy(bus, 'a')
      const messages = ['', '\0\r\n"', 'x'.repeat(2 ** 20)]
      for (const message of messages) await bus.publish('a', message)
      await until(() => heard.length === 3, 'all three are heard')
      expect(heard.every((message, i) => message === messages[i])).toBe(true)
    })
  })
}
