/**
 * The contract of every store and bus, as tests: `storeContract('mine', () => …)` in a Vitest file.
 *
 * These are the only files that need Vitest at run time, so only tests import them.
 */

import { describe } from 'vitest'
import type { OpenedStore } from './contract-kit.ts'
import { contractTest } from './contract-kit.ts'
import { keyTests, listTests } from './contract-order.ts'
import { bucketTests, raceTests } from './contract-races.ts'
import { expiryTests, valueTests } from './contract-values.ts'

export type { OpenedBus } from './contract-bus.ts'
export { busContract } from './contract-bus.ts'
export type { OpenedStore } from './contract-kit.ts'
export type { OtherProcess } from './contract-processes.ts'

/** Defines the tests of the store contract. Call it in a test file of your own store. */
export function storeContract(name: string, open: () => OpenedStore | Promise<OpenedStore>): void {
  const promise = contractTest(open)
  describe(`${name} keeps the contract of a store`, () => {
    describe('values', () => valueTests(promise))
    describe('expiry', () => expiryTests(promise))
    describe('keys', () => keyTests(promise))
    describe('lists and logs', () => listTests(promise))
    describe('races', () => raceTests(promise))
    describe('buckets', () => bucketTests(promise))
  })
}
