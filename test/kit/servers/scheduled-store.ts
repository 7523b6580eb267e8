/** A store whose requests and replies are delayed by a test's scheduler, in any order. */

import type { Bus } from '../../../packages/sluice/src/core/bus.ts'
import type { Store } from '../../../packages/sluice/src/core/store.ts'

export interface Scheduler {
  schedule<T>(task: Promise<T>): Promise<T>
}

/** A bus whose messages are delayed by the scheduler, and whose sender then waits for the reply. */
export const scheduledBus = (scheduler: Scheduler, bus: Bus): Bus => ({
  async publish(channel, message) {
    await scheduler.schedule(Promise.resolve())
    await bus.publish(channel, message)
    await scheduler.schedule(Promise.resolve())
  },
  subscribe: bus.subscribe,
})

export function scheduledStore(scheduler: Scheduler, store: Store): Store {
  const delayed =
    <A extends readonly unknown[], T>(verb: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await scheduler.schedule(Promise.resolve())
      const result = await verb(...args)
      await scheduler.schedule(Promise.resolve())
      return result
    }
  return {
    get: delayed(store.get),
    set: delayed(store.set),
    swap: delayed(store.swap),
    delete: delayed(store.delete),
    take: delayed(store.take),
    append: delayed(store.append),
    list: delayed(store.list),
  }
}
