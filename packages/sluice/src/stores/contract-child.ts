/**
 * One of several processes that want the same thing at the same time. Started by contract-processes.ts with the module
 * that opens the store, its argument, a job, and a name; waits for a line on stdin so that all begin together.
 */

import { once } from 'node:events'
import type { Store } from '../core/store.ts'

const jobs: { readonly [job: string]: (store: Store, who: string) => Promise<unknown> } = {
  /** Which of a hundred keys this process was the one to create. */
  async swap(store, who) {
    const won = await Promise.all(range(100).map((i) => store.swap(['race', String(i)], undefined, who)))
    return range(100).filter((i) => won[i])
  },
  /** How many of a bucket of 50 this process got. */
  async take(store) {
    const waits = await Promise.all(range(50).map(() => store.take(['race'], { burst: 50, perSecond: 0.001 })))
    return waits.filter((ms) => ms === 0).length
  },
  /** Where its own ten lines went, one after the other. */
  async append(store, who) {
    const keys: unknown[] = []
    for (const i of range(10)) keys.push(await store.append(['race'], `${who} ${i}`))
    return keys
  },
}
const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)

const [, , module = '', argument = '', job = '', who = ''] = process.argv
const { open } = (await import(module)) as { open(argument: string): Store | Promise<Store> }
const store = await open(argument)
// The first use connects; after it all are equally ready.
await store.get(['warm'])
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const result = await jobs[job]?.(store, who)
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
