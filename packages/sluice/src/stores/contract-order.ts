/** The contract of a store for keys, lists and logs. */

import { expect } from 'vitest'
import type { Key, Store } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import { compareKeys, isBelow, strangeKeys } from './contract-keys.ts'
import type { ContractTest } from './contract-kit.ts'
import { allEntries, handlesOf, range, valuesOf } from './contract-kit.ts'

export function keyTests(promise: ContractTest): void {
  for (const seed of [1, 2, 3])
    promise(
      `no two of 200 strange keys are the same, and no prefix reaches another's (seed ${seed})`,
      async ({ store }) => {
        const strange = strangeKeys(seed, 200)
        await Promise.all(strange.map((key) => store.set(key, JSON.stringify(key))))
        for (const key of strange) expect(await store.get(key)).toBe(JSON.stringify(key))
        for (const prefix of [[], ...strange.filter((key) => key.length > 0)]) {
          const expected = strange.filter((key) => isBelow(key, prefix)).toSorted(compareKeys)
          expect((await store.list(prefix, allEntries)).map(({ key }) => key)).toEqual(expected)
        }
        const [odd, even] = [strange.filter((_, i) => i % 2 === 1), strange.filter((_, i) => i % 2 === 0)]
        await Promise.all(odd.map((key) => store.delete(key)))
        for (const key of odd) expect(await store.get(key)).toBeUndefined()
        for (const key of even) expect(await store.get(key)).toBe(JSON.stringify(key))
      },
    )

  promise('every key has a separate bucket, independent of its value', async ({ store }) => {
    const strange = strangeKeys(4, 100)
    const oneToken = { burst: 1, perSecond: 0.001 }
    const waits = await Promise.all(strange.map((key) => store.take(key, oneToken)))
    expect(waits).toEqual(strange.map(() => 0))
    expect(await store.list([], allEntries)).toEqual([])
    await Promise.all(strange.map((key) => store.delete(key)))
    for (const key of strange.slice(0, 20)) expect(await store.take(key, oneToken)).toBeGreaterThan(0)
  })

  promise('half of a surrogate pair in a key is refused or kept distinct', async ({ store }) => {
    await store.set(['\ufffd'], 'replacement')
    await store.set(['\ud800'], 'half').catch(() => {})
    await store.append(['\udfff'], 'half').catch(() => {})
    expect(await store.get(['\ufffd'])).toBe('replacement')
    expect(['half', undefined]).toContain(await store.get(['\ud800']).catch(() => undefined))
    expect(await store.get(['\ud801']).catch(() => undefined)).toBeUndefined()
    expect(await store.list(['\ufffd'], allEntries)).toEqual([])
  })

  // This compiles only with a line for each verb, so that a verb added to `Store` is tested here too.
  const trespasses: { readonly [verb in keyof Store]: (store: Store, key: Key) => Promise<unknown> } = {
    get: (store, key) => store.get(key),
    set: (store, key) => store.set(key, 'mine'),
    swap: async (store, key) => ((await store.swap(key, 'secret', 'mine')) ? 'swapped' : undefined),
    delete: (store, key) => store.delete(key),
    take: async (store, key) => ((await store.take(key, { burst: 1, perSecond: 0.001 })) > 0 ? 'empty' : undefined),
    append: async (store, key) => {
      await store.append(key, 'mine')
    },
    list: async (store, key) =>
      (await store.list(key.slice(0, -1), allEntries)).find(({ value }) => value === 'secret'),
  }
  for (const [verb, trespass] of Object.entries(trespasses))
    promise(`${verb} with another tenant's key finds nothing and changes nothing`, async ({ store }) => {
      const oneToken = { burst: 1, perSecond: 0.001 }
      for (const [a, b] of [
        ['a', 'b'],
        ['a', 'a:b'],
        ['a:b', 'a'],
        ['', 'a'],
        ['a', 'a\0'],
        ['a', '"a"'],
        ['a', 'A'],
      ] as const) {
        const pair = prefixed(store, [a, b])
        const [theirs, ownStore] = [prefixed(pair, ['tenant', a]), prefixed(pair, ['tenant', b])]
        await theirs.set(['x', 'id'], 'secret')
        await theirs.take(['x', 'id'], oneToken)
        const before = await theirs.list([], allEntries)
        for (const key of [
          ['x', 'id'],
          ['tenant', a, 'x', 'id'],
          ['..', a, 'x', 'id'],
        ])
          expect(await trespass(ownStore, key)).toBeUndefined()
        expect(await theirs.list([], allEntries)).toEqual(before)
        expect(await theirs.take(['x', 'id'], oneToken)).toBeGreaterThan(0)
      }
    })
}

export function listTests(promise: ContractTest): void {
  promise('a list has all keys below its prefix at any depth, in order, by pages', async ({ store }) => {
    const inside = range(25).map((i): Key => (i % 3 === 0 ? ['p', String(i), 'deep'] : ['p', String(i)]))
    const outside: readonly Key[] = [['p'], ['pp'], ['o', '1'], ['q', '1'], ['P', '1']]
    await Promise.all([...inside, ...outside].map((key) => store.set(key, key.join())))
    const expected = inside.toSorted(compareKeys)
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

  promise('a cursor may have been deleted, and never widens the prefix', async ({ store }) => {
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

  promise('a limit of 0 gives an empty page, and a negative limit is refused', async ({ store }) => {
    await store.set(['a'], 'x')
    expect(await store.list([], { limit: 0 })).toEqual([])
    expect(await store.list([], { limit: Number.POSITIVE_INFINITY })).toHaveLength(1)
    await expect(store.list([], { limit: -1 })).rejects.toThrow()
    await expect(store.list([], { limit: Number.NaN })).rejects.toThrow()
  })

  promise('a log keeps the order in which its lines were acknowledged, for all writers', async (opened) => {
    const handles = await handlesOf(opened)
    const keys: Key[] = []
    for (const i of range(12)) {
      const handle = handles[i % handles.length] ?? opened.store
      keys.push(await handle.append(['log', 'a'], String(i)))
      await handle.append(['log', 'b'], 'other')
    }
    const expected = range(12).map((i) => ({ key: keys[i], value: String(i) }))
    for (const handle of handles) expect(await handle.list(['log', 'a'], allEntries)).toEqual(expected)
    expect(keys.every((key) => isBelow(key, ['log', 'a']) && key.length === 3)).toBe(true)
  })

  promise('a key in a log is never used twice, so that no reader misses a line', async ({ store }) => {
    const first = await store.append(['log'], '1')
    await store.delete(first)
    const second = await store.append(['log'], '2', 1)
    const third = await store.append(['log'], '3')
    expect([compareKeys(second, first) > 0, compareKeys(third, second) > 0]).toEqual([true, true])
    const keys = await Promise.all(range(50).map((i) => store.append(['many'], String(i))))
    expect(new Set(keys.map((key) => key.join())).size).toBe(50)
  })
}
