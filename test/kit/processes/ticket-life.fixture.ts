/**
 * The life of one ticket in one process, which dies at a chosen point: proposed, approved, spent, answered. Each answer
 * of the server is a line on stdout, written before anything else happens.
 *
 * live.ts <store> <folder> <amount> <point to die at, or "-">
 *
 * With "-" it prints all points at the end.
 */

import { writeSync } from 'node:fs'
import type { Store } from 'sluice'
import { cashier, openPaymentServer, openStore } from '../servers/payments.fixture.ts'

const [kind = '', folder = '', amount = '0', deadly = '-'] = process.argv.slice(2)
const points: string[] = []
const seen = new Map<string, number>()

function at(point: string): void {
  const times = (seen.get(point) ?? 0) + 1
  seen.set(point, times)
  // A step that occurs twice in a life is two points.
  const name = times === 1 ? point : `${point} (${times})`
  points.push(name)
  if (name === deadly) process.kill(process.pid, 'SIGKILL')
}
const print = (what: object): void => {
  writeSync(1, `${JSON.stringify(what)}\n`)
}

/** Names a write in words: `approvals state approved`, `once started`. */
function nameOf(key: Parameters<Store['get']>[0], value?: string): string {
  const [area, what] = key[0] === 'server' ? ['once', ''] : key
  const { status, state } = value?.startsWith('{') ? (JSON.parse(value) as { status?: string; state?: string }) : {}
  return [area, what, status, state].filter(Boolean).join(' ')
}
async function atPoints<T>(what: string, work: () => Promise<T>): Promise<T> {
  at(`before ${what}`)
  const done = await work()
  at(`after ${what}`)
  return done
}

const inner = openStore(kind, folder)
const store: Store = {
  ...inner,
  set: (key, value, ttlMs) => atPoints(`set ${nameOf(key, value)}`, () => inner.set(key, value, ttlMs)),
  swap(key, from, to, ttlMs) {
    const work = (): Promise<boolean> => inner.swap(key, from, to, ttlMs)
    // The number of time marks depends on the duration of a life; the model test covers crashes there.
    return key[1] === 'time' ? work() : atPoints(`swap ${nameOf(key, to)}`, work)
  },
  delete: (key) => atPoints(`delete ${nameOf(key)}`, () => inner.delete(key)),
}
const { pay, approvals } = openPaymentServer(store, { folder, at })
const { required = '' } = await pay(Number(amount))
print({ created: required })
await approvals.decide(required, { approved: true }, cashier)
print({ decided: required })
const { text } = await pay(Number(amount), required)
print({ answered: text })
if (deadly === '-') print({ points })
process.exit(0)
