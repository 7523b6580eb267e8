/** The contract of a store for concurrent callers and for buckets. */

import { expect } from 'vitest'
import type { Store } from '../core/store.ts'
import { random } from './contract-keys.ts'
import type { ContractTest } from './contract-kit.ts'
import { allEntries, handlesOf, range, valuesOf } from './contract-kit.ts'
import { runInProcesses } from './contract-processes.ts'

export function raceTests(promise: ContractTest): void {
  promise('of many callers that swap from the same value one wins', async (opened) => {
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

  promise('counting by swaps loses no count', async (opened) => {
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

  promise('of several processes that swap from the same value one wins', async ({ store, otherProcess }) => {
    if (!otherProcess) return
    const won = await runInProcesses(names, 'swap', otherProcess)
    const winners = [...won].flatMap(([processName, keys]) =>
      (keys as number[]).map((key) => [key, processName] as const),
    )
    expect(winners.map(([key]) => key).toSorted((a, b) => a - b)).toEqual(range(100))
    for (const [key, processName] of winners) expect(await store.get(['race', String(key)])).toBe(processName)
  })

  promise('several processes share one bucket and get as many tokens as one would', async ({ otherProcess }) => {
    if (!otherProcess) return
    const got = await runInProcesses(names, 'take', otherProcess)
    expect([...got.values()].reduce((sum: number, n) => sum + Number(n), 0)).toBe(50)
  })

  promise(
    'of several processes that write one log no line is lost, and each keeps its order',
    async ({ store, otherProcess }) => {
      if (!otherProcess) return
      const keysByProcess = await runInProcesses(names, 'append', otherProcess)
      const lines = await store.list(['race'], allEntries)
      expect(lines).toHaveLength(40)
      for (const [processName, keys] of keysByProcess) {
        const ownLines = lines.filter(({ value }) => value.startsWith(`${processName} `))
        expect(valuesOf(ownLines)).toEqual(range(10).map((i) => `${processName} ${i}`))
        expect(ownLines.map(({ key }) => key)).toEqual(keys)
      }
    },
  )
}

export function bucketTests(promise: ContractTest): void {
  promise('a bucket gives its capacity at once, then says how long to wait', async ({ store, advance }) => {
    // So slow that no token is added while this process waits for its turn.
    const bucket = { burst: 3, perSecond: 0.01 }
    const waits = [await store.take(['k'], bucket), await store.take(['k'], bucket), await store.take(['k'], bucket)]
    expect(waits).toEqual([0, 0, 0])
    const wait = await store.take(['k'], bucket)
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(100_000)
    // A refusal costs no token, so asking again does not extend the wait.
    for (const _ of range(20)) expect(await store.take(['k'], bucket)).toBeLessThanOrEqual(wait)
    if (!advance) return
    await advance(wait - 1)
    expect(await store.take(['k'], bucket)).toBe(1)
    await advance(1)
    expect(await store.take(['k'], bucket)).toBe(0)
    expect(await store.take(['k'], bucket)).toBeGreaterThan(0)
  })

  for (const seed of range(20))
    promise(`no schedule gets more than capacity and rate allow, and none starves (seed ${seed})`, async (opened) => {
      const below = random(seed)
      const bucket = { burst: 1 + below(8), perSecond: [0.5, 1, 3, 7, 10, 333, 1000][below(7)] ?? 1 }
      const { store, advance } = opened
      // A test below covers real clocks. Random schedules for them would only be slow.
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
            expect(j - i + 1).toBeLessThanOrEqual(bucket.burst + ((to - from) / 1000) * bucket.perSecond + 1e-3)
    })

  promise('by a real clock too a bucket gives exactly its capacity and its rate', async (opened) => {
    if (opened.advance) return
    const handles = await handlesOf(opened)
    // So large that it does not overflow, and lose tokens, while this process waits for its turn.
    const bucket = { burst: 1000, perSecond: 100 }
    const begin = performance.now()
    let granted = 1
    expect(await opened.store.take(['k'], bucket)).toBe(0)
    const first = performance.now()
    let lastAskedAt = begin
    for (let empty = false; !empty || lastAskedAt - begin < 400; ) {
      lastAskedAt = performance.now()
      const waits = await Promise.all(handles.flatMap((store) => range(10).map(() => store.take(['k'], bucket))))
      granted += waits.filter((ms) => ms === 0).length
      empty = waits.some((ms) => ms > 0)
    }
    const upTo = (ms: number): number => bucket.burst + (ms / 1000) * bucket.perSecond
    // One more or less, because the store's clock may tick in milliseconds. And less than one token remains.
    expect(granted).toBeLessThanOrEqual(upTo(performance.now() - begin) + 1)
    expect(granted).toBeGreaterThanOrEqual(upTo(lastAskedAt - first) - 2)
  })

  promise('a bucket that can never give or never fill is refused', async ({ store }) => {
    for (const bucket of [
      { burst: 0, perSecond: 1 },
      { burst: 1, perSecond: 0 },
      { burst: Number.NaN, perSecond: 1 },
      { burst: 1, perSecond: -1 },
      { burst: Number.POSITIVE_INFINITY, perSecond: 1 },
    ])
      await expect(store.take(['k'], bucket)).rejects.toThrow()
  })

  promise('a bucket made smaller or slower gives no more than its new size', async ({ store }) => {
    expect(await store.take(['k'], { burst: 1000, perSecond: 0.001 })).toBe(0)
    const waits = await Promise.all(range(10).map(() => store.take(['k'], { burst: 2, perSecond: 0.001 })))
    expect(waits.filter((ms) => ms === 0)).toHaveLength(2)
  })
}
