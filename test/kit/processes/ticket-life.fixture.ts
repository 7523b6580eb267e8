/**
 * One ticket's whole life in one process, which dies where it is told to: proposed, approved, spent, answered. Each thing
 * it was told by the server is a line on stdout, written before anything else happens.
 *
 *   live.ts <store> <folder> <amount> <point to die at, or "-">
 *
 * With "-" it says at the end which points there are.
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
  // A step that comes twice in a life is two points.
  const name = times === 1 ? point : `${point} (${times})`
  points.push(name)
  if (name === deadly) process.kill(process.pid, 'SIGKILL')
}
const say = (what: object): void => {
  writeSync(1, `${JSON.stringify(what)}\n`)
}

/** `approvals state approved`, `once started`: what is written, in words. */
function nameOf(key: Parameters<Store['get']>[0], value?: string): string {
  const [area, what] = key[0] === 'server' ? ['once', ''] : key
  const { status, state } = value?.startsWith('{') ? (JSON.parse(value) as { status?: string; state?: string }) : {}
  return [area, what, status, state].filter(Boolean).join(' ')
}
async function around<T>(what: string, work: () => Promise<T>): Promise<T> {
  at(`before ${what}`)
  const done = await work()
  at(`after ${what}`)
  return done
}

const inner = openStore(kind, folder)
const store: Store = {
  ...inner,
  set: (key, value, ttlMs) => around(`set ${nameOf(key, value)}`, () => inner.set(key, value, ttlMs)),
  swap(key, from, to, ttlMs) {
    const work = (): Promise<boolean> => inner.swap(key, from, to, ttlMs)
    // How often the time is marked depends on how long a life takes; the model has crashes there.
    return key[1] === 'time' ? work() : around(`swap ${nameOf(key, to)}`, work)
  },
  delete: (key) => around(`delete ${nameOf(key)}`, () => inner.delete(key)),
}
const { pay, approvals } = openPaymentServer(store, { folder, at })
const { required = '' } = await pay(Number(amount))
say({ created: required })
await approvals.decide(required, { approved: true }, cashier)
say({ decided: required })
const { text } = await pay(Number(amount), required)
say({ answered: text })
if (deadly === '-') say({ points })
process.exit(0)
