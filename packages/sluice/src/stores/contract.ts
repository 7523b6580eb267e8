/**
 * What every store and bus promises, as tests: `storeContract('mine', () => …)` in a Vitest file.
 *
 * The only files of ours that need Vitest at run time, so they are not imported by anything but tests.
 */

import { describe } from 'vitest'
import { keys, lists } from './contract-order.ts'
import type { OpenedStore } from './contract-promises.ts'
import { promising } from './contract-promises.ts'
import { buckets, races } from './contract-races.ts'
import { expiry, values } from './contract-values.ts'

export type { OpenedBus } from './contract-bus.ts'
export { busContract } from './contract-bus.ts'
export type { Elsewhere } from './contract-processes.ts'
export type { OpenedStore } from './contract-promises.ts'

/** The promises of a store as tests: call it in a test file of your own store. */
export function storeContract(name: string, open: () => OpenedStore | Promise<OpenedStore>): void {
  const promise = promising(open)
  describe(`${name} keeps the contract of a store`, () => {
    describe('values', () => values(promise))
    describe('expiry', () => expiry(promise))
    describe('keys', () => keys(promise))
    describe('lists and logs', () => lists(promise))
    describe('races', () => races(promise))
    describe('buckets', () => buckets(promise))
  })
}
