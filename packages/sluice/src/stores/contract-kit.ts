/** What the promises of the contract are written with. */

import { setTimeout as sleep } from 'node:timers/promises'
import { test } from 'vitest'
import type { Store, StoreEntry } from '../core/store.ts'
import type { OtherProcess } from './contract-processes.ts'

/** A store nobody else uses, opened anew for each test. */
export interface OpenedStore {
  readonly store: Store
  /** For stores that outlive their process: ends this one without warning and opens the same data again. */
  reopen?(): Promise<Store>
  /** A second handle to the same data, as another process would have. */
  openAnother?(): Promise<Store>
  readonly otherProcess?: OtherProcess
  /** Moves the store's clock where it can be moved; otherwise the tests wait for real, shortly and bounded. */
  advance?(ms: number): void | Promise<void>
  close(): Promise<void>
}

type ContractTestOf<Opened> = (sentence: string, body: (opened: Opened) => Promise<void>) => void
export type ContractTest = ContractTestOf<OpenedStore>

/** A promise is a test with something opened for it alone. */
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

/** Until it holds, for stores whose clock cannot be moved. */
export async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 3_000; tries++) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`Not within half a minute: ${what}`)
}
export const allEntries: { readonly limit: number } = { limit: 10_000 }
export const valuesOf = (entries: readonly StoreEntry[]): readonly string[] => entries.map(({ value }) => value)
export const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
export const handlesOf = async ({ store, openAnother }: OpenedStore): Promise<readonly Store[]> =>
  openAnother ? [store, await openAnother(), await openAnother()] : [store]
