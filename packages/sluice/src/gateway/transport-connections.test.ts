import { expect, test } from 'vitest'
import { ClientError } from '../client/errors.ts'
import type { Client } from '../client/types.ts'
import { createStop } from '../core/stop.ts'
import { fakeClock } from '../testing/clock.ts'
import type { ConnectionLease, Connections, ScopeKey } from './connections.ts'
import { createTransportConnections } from './transport-connections.ts'

const key = (text: string): ScopeKey => ({ text, tenant: text })
const unreachable = new ClientError('unreachable', 'refused', { mayHaveRun: false })
const minute = 60_000

function open(): {
  clock: ReturnType<typeof fakeClock>
  connections: Connections
  closed: string[]
  opened: () => number
} {
  const clock = fakeClock()
  const closed: string[] = []
  let opened = 0
  const connections = createTransportConnections({
    ...{ name: 'files', clock, open: () => ({}) as never },
    connect() {
      const id = `c${++opened}`
      const close = (): Promise<void> => {
        closed.push(id)
        return Promise.resolve()
      }
      return Promise.resolve({ agreement: { revision: '2026-07-28' }, close } as unknown as Client)
    },
  })
  return { clock, connections, closed, opened: () => opened }
}
const acquire = async (connections: Connections, text: string): Promise<ConnectionLease> =>
  connections.acquire(key(text), createStop())
async function failing(connections: Connections, text: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) (await acquire(connections, text)).release(unreachable)
}

test('five failures in a row open the circuit of one scope key, and of no other', async () => {
  const { connections, clock } = open()
  await failing(connections, 'ann', 4)
  ;(await acquire(connections, 'ann')).release()
  await failing(connections, 'ann', 5)
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({
    reason: 'upstreamUnavailable',
    data: { retryAfterMs: 1000 },
  })
  ;(await acquire(connections, 'bob')).release()
  expect(connections.states().map(({ key: text, state }) => [text, state])).toEqual([
    ['ann', 'backoff'],
    ['bob', 'ready'],
  ])
  await clock.advance(1000)
  ;(await acquire(connections, 'ann')).release()
  expect(connections.states()[0]).toMatchObject({ state: 'ready' })
})

test('while the circuit is tried, one call is let through, and a failure doubles the pause', async () => {
  const { connections, clock } = open()
  await failing(connections, 'ann', 5)
  await clock.advance(1000)
  const trial = await acquire(connections, 'ann')
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
  trial.release(unreachable)
  await clock.advance(1000)
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({ data: { retryAfterMs: 1000 } })
  await clock.advance(1000)
  ;(await acquire(connections, 'ann')).release()
})

test('a trial call that finds no place does not count, and the next call is let through', async () => {
  const { connections, clock } = open()
  await failing(connections, 'ann', 5)
  const others = []
  for (const text of ['one', 'two'])
    for (let i = 0; i < 64; i++) others.push(await connections.acquire({ text, tenant: 'ann' }, createStop()))
  await clock.advance(1000)
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({ message: expect.stringContaining('in flight') })
  for (const each of others) each.release()
  ;(await acquire(connections, 'ann')).release()
})

test('errors that an upstream answers with are not failures of the connection', async () => {
  const { connections } = open()
  for (let i = 0; i < 20; i++) (await acquire(connections, 'ann')).release(new Error('an answer'))
  for (let i = 0; i < 20; i++)
    (await acquire(connections, 'ann')).release(new ClientError('status', 'no', { status: 404 }))
  ;(await acquire(connections, 'ann')).release()
})

test('an idle connection is closed, one in use is not', async () => {
  const { connections, clock, closed } = open()
  const held = await acquire(connections, 'ann')
  ;(await acquire(connections, 'bob')).release()
  await clock.advance(11 * minute)
  expect(closed).toEqual(['c2'])
  held.release()
  await clock.advance(11 * minute)
  expect(closed).toEqual(['c2', 'c1'])
  expect(clock.pending).toBe(0)
})

test('beyond the limit of connections the oldest idle one is closed', async () => {
  const { connections, closed, opened } = open()
  for (let i = 0; i < 1001; i++) (await acquire(connections, `caller ${i}`)).release()
  expect([opened(), closed]).toEqual([1001, ['c1']])
})

test('a tenant has a limit of calls in flight that lies below that of all', async () => {
  const { connections } = open()
  const leases: ConnectionLease[] = []
  for (let i = 0; i < 64; i++) leases.push(await acquire(connections, 'ann'))
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
  leases[0]?.release()
  leases[0]?.release()
  leases.push(await acquire(connections, 'ann'))
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
  expect(connections.states()[0]).toMatchObject({ inFlight: 64 })
})

test('calls that come while a connection is opened share it', async () => {
  const { connections, opened } = open()
  const leases = await Promise.all([1, 2, 3].map(() => acquire(connections, 'ann')))
  expect(opened()).toBe(1)
  expect(new Set(leases.map(({ client }) => client)).size).toBe(1)
})

test('closing ends every connection, and further calls are refused', async () => {
  const { connections, closed, clock } = open()
  await acquire(connections, 'ann')
  await connections.close()
  expect(closed).toEqual(['c1'])
  await expect(acquire(connections, 'ann')).rejects.toMatchObject({ reason: 'upstreamUnavailable' })
  expect(clock.pending).toBe(0)
})
