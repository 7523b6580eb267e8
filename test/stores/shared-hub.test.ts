/** core/shared-hub.ts: the events of a server on several processes, over a store that a test slows down or fails. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { OwnedHub } from '../../packages/sluice/src/core/hub.ts'
import { sharedHub } from '../../packages/sluice/src/core/shared-hub.ts'
import type { Store } from '../../packages/sluice/src/core/store.ts'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import { memoryBus } from '../../packages/sluice/src/stores/memory-bus.ts'
import { fakeClock, settle } from '../../packages/sluice/src/testing/clock.ts'
import { scheduledBus, scheduledStore } from '../kit/servers/scheduled-store.ts'

const uri = 'note:1'

test('a resource that changes again while its first change is being published is announced again', async () => {
  const clock = fakeClock()
  const store = memoryStore(clock)
  const bus = memoryBus()
  const announced = Promise.withResolvers<void>()
  // The first announcement is slow: the change is in the log already, and other processes may have read it.
  let announcements = 0
  const slow = { ...bus, publish: () => (++announcements === 2 ? announced.promise : bus.publish('events x', '')) }
  const hub = sharedHub({ store, bus: slow, name: 'x' }, clock)
  let heard = 0
  hub.subscribe(() => {
    heard++
  })
  await hub.ready()
  await settle()
  hub.publish({ kind: 'resource', uri })
  await settle()
  hub.publish({ kind: 'resource', uri })
  announced.resolve()
  await clock.advance(5_000)
  expect(heard).toBe(2)
})

test('a change that is published while the store is down is received when the store is back', async () => {
  const clock = fakeClock()
  const real = memoryStore(clock)
  let away = false
  const append: Store['append'] = (...args) => (away ? Promise.reject(new Error('away')) : real.append(...args))
  const hub = sharedHub({ store: { ...real, append }, bus: memoryBus(), name: 'x' }, clock)
  const heard: unknown[] = []
  hub.subscribe((event) => heard.push(event))
  await hub.ready()
  away = true
  hub.publish({ kind: 'resource', uri })
  await clock.advance(20_000)
  expect(heard).toEqual([])
  away = false
  await clock.advance(5_000)
  expect(heard).toEqual([{ kind: 'resource', uri }])
})

test('a client that reconnects while the store is down receives what it missed once, when the store is back', async () => {
  const clock = fakeClock()
  const real = memoryStore(clock)
  let away = false
  const list: Store['list'] = (...args) => (away ? Promise.reject(new Error('away')) : real.list(...args))
  const hub = sharedHub({ store: { ...real, list }, bus: memoryBus(), name: 'x' }, clock)
  const positions: string[] = []
  hub.subscribe((_, position) => positions.push(position))
  await hub.ready()
  for (let change = 0; change < 3; change++) {
    hub.publish({ kind: 'resource', uri: `note:${change}` })
    await settle()
  }
  away = true
  const heard: string[] = []
  hub.subscribeAfter(positions[0] ?? '', (event) => heard.push('uri' in event ? event.uri : event.kind))
  await clock.advance(10_000)
  expect(heard).toEqual([])
  away = false
  await clock.advance(5_000)
  hub.publish({ kind: 'tools' })
  await settle()
  expect(heard).toEqual(['note:1', 'note:2', 'tools'])
})

/** Two resources, three processes: changes and new clients in any order, over a store that answers in any order. */
const step = fc.record({
  kind: fc.constantFrom('change', 'change', 'change', 'listen', 'poll'),
  process: fc.integer({ min: 0, max: 2 }),
  uri: fc.constantFrom('note:1', 'note:2'),
})

test('in every schedule, a client that reads a resource after each notification ends with the newest version', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fc.array(step, { maxLength: 20 }), async (scheduler, steps) => {
      const clock = fakeClock()
      const store = scheduledStore(scheduler, memoryStore(clock))
      const bus = scheduledBus(scheduler, memoryBus())
      const hubs: readonly OwnedHub[] = [0, 1, 2].map(() => sharedHub({ store, bus, name: 'x' }, clock))
      const versions: { [uri: string]: number } = { 'note:1': 0, 'note:2': 0 }
      const clients: { [uri: string]: number }[] = []
      const listen = async (hub: OwnedHub | undefined): Promise<void> => {
        const client: { [uri: string]: number } = {}
        await hub?.ready()
        hub?.subscribe((event) => {
          if ('uri' in event) client[event.uri] = versions[event.uri] ?? 0
        })
        // Like an acknowledged client: it reads once, and then after each notification.
        Object.assign(client, versions)
        clients.push(client)
      }
      const listening: Promise<void>[] = []
      for (const { kind, process, uri: changed } of steps) {
        if (kind === 'listen') listening.push(listen(hubs[process]))
        if (kind === 'poll') clock.jump(5_000)
        if (kind === 'change') {
          versions[changed] = (versions[changed] ?? 0) + 1
          hubs[process]?.publish({ kind: 'resource', uri: changed })
        }
        // Some pending messages arrive; the scheduler chooses which.
        for (let arrivals = 0; arrivals < 3 && scheduler.count() > 0; arrivals++) await scheduler.waitOne()
      }
      for (let polls = 0; polls < 3; polls++) {
        await scheduler.waitIdle()
        clock.jump(5_000)
      }
      await scheduler.waitIdle()
      await Promise.all(listening)
      for (const client of clients) expect(client).toEqual(versions)
    }),
    { numRuns: 500 },
  )
})
