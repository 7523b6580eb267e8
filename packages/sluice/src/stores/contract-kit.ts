/** Helpers for the tests of the contract. */

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import type { Store, StoreEntry } from '../core/store.ts'
import type { OtherProcess } from './contract-processes.ts'

/** A store opened for one test. */
export interface OpenedStore {
  readonly store: Store
  /** Ends the store without warning and opens the same data again. For stores that outlive their process. */
  reopen?(): Promise<Store>
  /** Opens a second handle to the same data, as another process would. */
  openAnother?(): Promise<Store>
  readonly otherProcess?: OtherProcess
  /**
   * Advances the store's clock, if it can be controlled. Otherwise the tests wait in real time, for a short, bounded
   * time.
   */
  advance?(ms: number): void | Promise<void>
  close(): Promise<void>
}

type ContractTestOf<Opened> = (sentence: string, body: (opened: Opened) => Promise<void>) => void
export type ContractTest = ContractTestOf<OpenedStore>

/** Returns a test function that opens a new store or bus for each test, and closes it. */
export const contractTest =
  <Opened extends { close(): Promise<void> }>(open: () => Opened | Promise<Opened>): ContractTestOf<Opened> =>
  (sentence, body) =>
    test(sentence, async () => {
      const opened = await open()
      try {
        await body(opened)
      } finally {
        await opened.close()
      }
    })

/** Waits until a condition holds, for stores whose clock cannot be controlled. */
export async function eventually(holds: () => Promise<boolean>, description: string): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`Not within half a minute: ${description}`)
}
export const allEntries: { readonly limit: number } = { limit: 10_000 }
export const valuesOf = (entries: readonly StoreEntry[]): readonly string[] => entries.map(({ value }) => value)
export const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
export const handlesOf = async ({ store, openAnother }: OpenedStore): Promise<readonly Store[]> =>
  openAnother ? [store, await openAnother(), await openAnother()] : [store]
