/**
 * One of several processes that race for the same keys. contract-processes.ts starts it with the module that opens the
 * store, its argument, a job and a name. It waits for a line on stdin, so that all processes start together.
 */

import { once } from 'node:events'
import type { Store } from '../core/store.ts'

const jobs: { readonly [job: string]: (store: Store, name: string) => Promise<unknown> } = {
  /** Returns which of a hundred keys this process created. */
  async swap(store, name) {
    const won = await Promise.all(range(100).map((i) => store.swap(['race', String(i)], undefined, name)))
    return range(100).filter((i) => won[i])
  },
  /** Returns how many tokens of a bucket of 50 this process got. */
  async take(store) {
    const waits = await Promise.all(range(50).map(() => store.take(['race'], { burst: 50, perSecond: 0.001 })))
    return waits.filter((ms) => ms === 0).length
  },
  /** Returns the keys of the ten lines that this process appended one after the other. */
  async append(store, name) {
    const keys: unknown[] = []
    for (const i of range(10)) keys.push(await store.append(['race'], `${name} ${i}`))
    return keys
  },
}
const range = (length: number): readonly number[] => Array.from({ length }, (_, i) => i)

const [, , module = '', argument = '', job = '', name = ''] = process.argv
const { open } = (await import(module)) as { open(argument: string): Store | Promise<Store> }
const store = await open(argument)
// The first use connects, so that all processes are equally ready.
await store.get(['warm'])
process.stdout.write('ready\n')
await once(process.stdin, 'data')
const result = await jobs[job]?.(store, name)
process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0))
