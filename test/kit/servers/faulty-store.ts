/** A store as one process sees it: the process can die at any access, and any access can fail. */

import type { Store } from 'sluice'
import { RpcError } from 'sluice'

/** At the n-th access of the next command. `after`: the access itself still took place. */
export interface StoreFault {
  readonly kind: 'crash' | 'fails once' | 'fails from then on'
  readonly access: number
  readonly after: boolean
}

export interface FaultyStore {
  readonly store: Store
  readonly isDead: boolean
  kill(): void
  /** Runs a command with a fault in it. `died` if the process died meanwhile; `wasHit` if the fault took place. */
  during<T>(
    fault: StoreFault | undefined,
    work: () => Promise<T>,
  ): Promise<{ readonly value?: T; readonly thrown?: unknown; readonly died: boolean; readonly wasHit: boolean }>
}

export function faultyStore(store: Store): FaultyStore {
  let fault: StoreFault | undefined
  let [accesses, dead, wasHit] = [0, false, false]
  let died = Promise.withResolvers<void>()

  const access =
    <A extends readonly unknown[], T>(verb: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      if (dead) return new Promise(() => {})
      const isNow =
        fault && ++accesses >= fault.access && (fault.kind === 'fails from then on' || accesses === fault.access)
      if (!fault || !isNow) return verb(...args)
      const { kind, after } = fault
      wasHit = true
      if (kind === 'crash') dead = true
      if (after) await verb(...args)
      if (kind !== 'crash') throw new RpcError('storeUnavailable', 'The store is away')
      died.resolve()
      return new Promise(() => {})
    }
  return {
    store: {
      get: access(store.get),
      set: access(store.set),
      swap: access(store.swap),
      delete: access(store.delete),
      take: access(store.take),
      append: access(store.append),
      list: access(store.list),
    },
    get isDead() {
      return dead
    },
    kill() {
      dead = true
    },
    async during(next, work) {
      ;[fault, accesses, wasHit] = [next, 0, false]
      died = Promise.withResolvers()
      try {
        const outcome = await Promise.race([
          work().then(
            (value) => ({ value, died: false }),
            (thrown: unknown) => ({ thrown, died: false }),
          ),
          died.promise.then(() => ({ died: true })),
        ])
        return { ...outcome, wasHit }
      } finally {
        fault = undefined
      }
    },
  }
}
