/** The contract of a store for values and their expiry. */

import { expect } from 'vitest'
import { compareKeys } from './contract-keys.ts'
import type { ContractTest, OpenedStore } from './contract-kit.ts'
import { allEntries, eventually } from './contract-kit.ts'

export function valueTests(promise: ContractTest): void {
  promise('a value stays until it is set again or deleted', async ({ store }) => {
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

  promise('values are read back byte for byte, up to a mebibyte', async ({ store }) => {
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
    expect((await store.list(['log'], allEntries)).map(({ key, value }) => [key, value === large])).toEqual([
      [at, true],
    ])
  })

  promise('half of a surrogate pair is refused or read back, never changed', async ({ store }) => {
    await store.set(['a'], '\ud800').catch(() => {})
    expect(['\ud800', undefined]).toContain(await store.get(['a']))
    await store.set(['b'], '\ufffd')
    expect(await store.swap(['b'], '\ud800', 'x').catch(() => false)).toBe(false)
  })

  promise('a restart keeps acknowledged writes', async ({ store, reopen }) => {
    if (!reopen) return
    await store.set(['a'], '1')
    await store.set(['b'], '2', 3_600_000)
    await store.swap(['c'], undefined, '3')
    await store.delete(['a'])
    const at = await store.append(['log'], 'first')
    expect(await store.take(['t'], { burst: 1, perSecond: 0.001 })).toBe(0)
    const again = await reopen()
    expect(await again.list([], allEntries)).toEqual([
      { key: ['b'], value: '2' },
      { key: ['c'], value: '3' },
      { key: at, value: 'first' },
    ])
    expect(compareKeys(await again.append(['log'], 'second'), at)).toBeGreaterThan(0)
    expect(await again.take(['t'], { burst: 1, perSecond: 0.001 })).toBeGreaterThan(0)
  })
}

export function expiryTests(promise: ContractTest): void {
  /** Long enough for the entries to be read before they expire, on a busy machine. */
  const short = 3000
  const pass = async (
    { advance }: OpenedStore,
    expired: () => Promise<boolean>,
    description: string,
  ): Promise<void> => {
    if (!advance) return eventually(expired, description)
    await advance(short - 1)
    expect(await expired()).toBe(false)
    await advance(1)
    expect(await expired()).toBe(true)
  }

  promise('an entry with a time to live expires after it, for every verb', async (opened) => {
    const { store } = opened
    await Promise.all([store.set(['a', '1'], 'x', short), store.append(['a', 'log'], 'x', short)])
    await Promise.all([store.swap(['a', '2'], undefined, 'x', short), store.set(['a', 'stays'], 'x')])
    expect(await store.list(['a'], allEntries)).toHaveLength(4)
    await pass(opened, async () => (await store.list(['a'], allEntries)).length === 1, 'three of four expire')
    expect(await store.get(['a', '1'])).toBeUndefined()
    expect(await store.swap(['a', '2'], 'x', 'y')).toBe(false)
    expect(await store.swap(['a', '2'], undefined, 'y')).toBe(true)
    expect(await store.get(['a', '2'])).toBe('y')
  })

  promise('the last write sets the time to live', async (opened) => {
    const { store } = opened
    await Promise.all([store.set(['a'], '1', short), store.set(['b'], '1', short), store.set(['c'], '1', short)])
    await store.set(['a'], '2')
    expect(await store.swap(['b'], '1', '2')).toBe(true)
    await store.set(['c'], '2', 3_600_000)
    await store.set(['last'], 'x', short)
    await pass(opened, async () => (await store.get(['last'])) === undefined, 'the last one expires')
    expect(await store.list([], allEntries)).toEqual(['a', 'b', 'c'].map((part) => ({ key: [part], value: '2' })))
  })

  promise('a time to live of 0 expires at once, and one that is not a number is refused', async ({ store }) => {
    await store.set(['a'], '1')
    await store.set(['a'], '2', 0)
    expect(await store.get(['a'])).toBeUndefined()
    expect(await store.swap(['a'], undefined, '3', -5)).toBe(true)
    expect(await store.list([], allEntries)).toEqual([])
    await store.set(['b'], '1', 1e300)
    await store.set(['c'], '1', Number.POSITIVE_INFINITY)
    await store.set(['d'], '1', 3_600_000.5)
    expect(await store.list([], allEntries)).toHaveLength(3)
    await expect(store.set(['e'], '1', Number.NaN)).rejects.toThrow()
  })
}
