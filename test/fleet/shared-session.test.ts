/** transports/http/legacy/shared-session.ts: one session shared by two processes, in every order of their actions. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Bus } from '../../packages/sluice/src/core/bus.ts'
import type { Connection } from '../../packages/sluice/src/core/connection.ts'
import { createConnection } from '../../packages/sluice/src/core/connection.ts'
import type { Store } from '../../packages/sluice/src/core/store.ts'
import { memoryStore } from '../../packages/sluice/src/stores/memory.ts'
import { memoryBus } from '../../packages/sluice/src/stores/memory-bus.ts'
import type { FakeClock } from '../../packages/sluice/src/testing/clock.ts'
import { fakeClock } from '../../packages/sluice/src/testing/clock.ts'
import type { SharedSession } from '../../packages/sluice/src/transports/http/legacy/shared-sessions.ts'
import { sharedSessions } from '../../packages/sluice/src/transports/http/legacy/shared-sessions.ts'
import { scheduledStore } from '../kit/servers/scheduled-store.ts'

const id = '0'.repeat(32)
const logger = { info() {}, warn() {}, error() {} }

interface Process {
  readonly session: SharedSession
  readonly connection: Connection
}
/** Each as in a separate process. */
function processes(store: Store, clock: FakeClock, count: number): readonly Process[] {
  const bus = memoryBus()
  return Array.from({ length: count }, () => {
    const shared = { store, bus, name: 'x' }
    const all = sharedSessions(shared, { clock, logger, idleMs: 60_000, max: 10, authenticates: false })
    const session = all.open(id, { onClosed() {}, isListening: () => true, deliver: () => true, onStreamTaken() {} })
    const connection = createConnection({ id, clock, remote: session, answerWithinMs: 1000 })
    session.bind(connection)
    return { session, connection }
  })
}

/** A client works on one URI at a time; others work beside it, on any process. */
const step = fc.record({
  process: fc.integer({ min: 0, max: 2 }),
  kind: fc.constantFrom('subscribe', 'subscribe', 'unsubscribe', 'read'),
})
const work = fc.array(fc.array(step, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 4 })

test('in every schedule, the last acknowledged state of a resource is known to all processes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), work, async (scheduler, clients) => {
      const clock = fakeClock()
      const fleet = processes(scheduledStore(scheduler, memoryStore(clock)), clock, 3)
      const settled = async <T>(pending: Promise<T>): Promise<T> => {
        await scheduler.waitIdle()
        return pending
      }
      await settled(fleet[0]?.session.register('127.0.0.1') ?? Promise.reject(new Error('no process')))
      for (const { session } of fleet) expect(await settled(session.refresh())).toBe(true)
      const expected = new Set<string>()
      const working = clients.map(async (steps, client) => {
        const uri = `note:${client}`
        for (const { process, kind } of steps) {
          const { session, connection } = fleet[process] ?? { session: undefined, connection: undefined }
          if (kind === 'read') await session?.refresh()
          if (kind === 'subscribe') await connection?.change({ kind, uri, tenant: 'default' })
          if (kind === 'unsubscribe') await connection?.change({ kind, uri })
          // Acknowledged: from here on it holds.
          if (kind === 'subscribe') expected.add(uri)
          if (kind === 'unsubscribe') expected.delete(uri)
        }
      })
      await settled(Promise.all(working))
      for (const { session, connection } of fleet) {
        // Notifications of other processes were processed: nothing is read here that a stream would not have known.
        expect(connection.state.subscriptions).toEqual(expected)
        await settled(session.refresh())
        expect(connection.state.subscriptions).toEqual(expected)
      }
    }),
    { numRuns: 200 },
  )
})

test('in every schedule, exactly one caller owns the session, and it is the same on all processes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const clock = fakeClock()
      const fleet = processes(scheduledStore(scheduler, memoryStore(clock)), clock, 3)
      const begun = fleet[0]?.session.register('127.0.0.1')
      await scheduler.waitIdle()
      await begun
      const reads = Promise.all(fleet.map(({ session }) => session.refresh()))
      await scheduler.waitIdle()
      await reads
      const asking = Promise.all(
        fleet.map(async ({ connection }, caller) => connection.claimOwnership(`caller ${caller}`)),
      )
      await scheduler.waitIdle()
      const owns = await asking
      expect(owns.filter(Boolean)).toHaveLength(1)
      for (const { connection } of fleet) expect(connection.state.owner).toBe(`caller ${owns.indexOf(true)}`)
    }),
    { numRuns: 100 },
  )
})

/** Delivers in one order, but to each process when the test says so. */
function lateBus() {
  const messages: string[] = []
  return {
    forProcess() {
      const listeners = new Set<(message: string) => void>()
      let delivered = 0
      const bus: Bus = {
        publish: async (_, message) => {
          messages.push(message)
        },
        subscribe(_, listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      }
      function deliver(): boolean {
        const message = messages[delivered]
        if (message === undefined) return false
        delivered++
        for (const listener of listeners) listener(message)
        return true
      }
      return { bus, deliver }
    },
  }
}

const takes = fc.array(
  fc.record({ process: fc.integer({ min: 0, max: 2 }), kind: fc.constantFrom('take', 'deliver') }),
  { minLength: 1, maxLength: 20 },
)

test('however late the bus delivers, the last process that took a stream keeps it, and no other does', async () => {
  await fc.assert(
    fc.asyncProperty(takes, async (steps) => {
      const clock = fakeClock()
      const store = memoryStore(clock)
      const late = lateBus()
      const holders = new Set<number>()
      const fleet: { readonly session: SharedSession; deliver(): boolean }[] = []
      for (const process of [0, 1, 2]) {
        const { bus, deliver } = late.forProcess()
        const options = { clock, logger, idleMs: 60_000, max: 10, authenticates: false }
        const session = sharedSessions({ store, bus, name: 'x' }, options).open(id, {
          ...{ onClosed() {}, isListening: () => true, deliver: () => true },
          onStreamTaken: () => holders.delete(process),
        })
        session.bind(createConnection({ id, clock, remote: session, answerWithinMs: 1000 }))
        if (process === 0) await session.register('127.0.0.1')
        else expect(await session.refresh()).toBe(true)
        fleet.push({ session, deliver })
      }
      let last: number | undefined
      for (const { process, kind } of steps) {
        if (kind === 'deliver') fleet[process]?.deliver()
        else {
          holders.add(process)
          fleet[process]?.session.claimStream('s')
          last = process
        }
      }
      for (const { deliver } of fleet) while (deliver());
      expect([...holders]).toEqual(last === undefined ? [] : [last])
      for (const { session } of fleet) session.release()
    }),
    { numRuns: 200 },
  )
})

test('an anonymous network that opens sessions without end leaves room for another network', async () => {
  const clock = fakeClock()
  const shared = { store: memoryStore(clock), bus: memoryBus(), name: 'x' }
  const all = sharedSessions(shared, { clock, logger, idleMs: 60_000, max: 10, authenticates: false })
  let opened = 0
  const begin = (peer: string): Promise<boolean> => {
    const id = `${opened++}`.padStart(32, '0')
    const session = all.open(id, { onClosed() {}, isListening: () => false, deliver: () => false, onStreamTaken() {} })
    session.bind(createConnection({ id, clock, remote: session, answerWithinMs: 1000 }))
    return session.register(peer).then(
      () => true,
      () => false,
    )
  }
  for (let i = 0; i < 500; i++) await begin('192.0.2.66')
  expect(await begin('192.0.2.66')).toBe(false)
  // A slot is chosen at random, so a client may have to try again.
  const tries: boolean[] = []
  for (let i = 0; i < 5; i++) tries.push(await begin('192.0.2.1'))
  expect(tries).toContain(true)
  await all.close()
})
