/** What the promises of the contract are written with. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Entry, Store } from '../core/store.ts'
import type { Elsewhere } from './contract-processes.ts'

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

export type Promises = (sentence: string, body: (opened: OpenedStore) => Promise<void>) => void

/** Until it holds, for stores whose clock cannot be moved. */
export async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return
    await sleep(10)
  }
  throw new Error(`Not within five seconds: ${what}`)
}
export const all: { readonly limit: number } = { limit: 10_000 }
export const valuesOf = (entries: readonly Entry[]): readonly string[] => entries.map(({ value }) => value)
export const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)
export const handlesOf = async ({ store, another }: OpenedStore): Promise<readonly Store[]> =>
  another ? [store, await another(), await another()] : [store]
