/**
 * Lets a call have a connection for itself. On stdio a question before 2026-07-28 names no call. Beside other calls, a
 * question of a call that a person approved could reach the client of another call, and its answer the wrong work.
 */

import type { Client } from '../client/types.ts'
import type { Stop } from '../core/stop.ts'

interface Turns {
  running: number
  isAlone: boolean
  readonly waiting: Set<{ readonly isAlone: boolean; begin(): void }>
}

const turnsOf = new WeakMap<Client, Turns>()

/** Resolves when the call may begin. The returned function ends its turn, and must be called once. */
export function takeTurn(client: Client, isAlone: boolean, stop: Stop): (() => void) | Promise<() => void> {
  const turns = turnsOf.get(client) ?? { running: 0, isAlone: false, waiting: new Set() }
  turnsOf.set(client, turns)
  if (turns.waiting.size === 0 && mayBegin(turns, isAlone)) return begin(turns, isAlone)
  return new Promise((resolve, reject) => {
    const waiter = {
      isAlone,
      begin() {
        unlisten()
        resolve(begin(turns, isAlone))
      },
    }
    const unlisten = stop.onStop((reason) => {
      turns.waiting.delete(waiter)
      reject(reason)
      next(turns)
    })
    turns.waiting.add(waiter)
  })
}

const mayBegin = (turns: Turns, isAlone: boolean): boolean => !turns.isAlone && (!isAlone || turns.running === 0)

function begin(turns: Turns, isAlone: boolean): () => void {
  turns.running++
  turns.isAlone = isAlone
  return () => {
    turns.running--
    turns.isAlone = false
    next(turns)
  }
}

function next(turns: Turns): void {
  for (const waiter of [...turns.waiting]) {
    if (!mayBegin(turns, waiter.isAlone)) return
    turns.waiting.delete(waiter)
    waiter.begin()
  }
}
