/**
 * What every store and bus promises, as tests: `storeContract('mine', () => …)` in a Vitest file.
 *
 * The only files of ours that need Vitest at run time, so they are not imported by anything but tests.
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

/** The promises of a store as tests: call it in a test file of your own store. */
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
