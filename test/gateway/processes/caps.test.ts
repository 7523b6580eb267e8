/** The number of processes is bounded per tenant and in all. A tenant that takes all it can does not affect the others. */

import { expect, test } from 'vitest'
import { keyOf, open } from './kit.ts'
import { isAlive } from './running.ts'

const pidOf = (facts: unknown): number => (facts as { readonly pid: number }).pid
const full = { reason: 'upstreamUnavailable' }

test('a tenant at its cap is refused while all its processes are busy, and other tenants are not', async () => {
  const { acquire, call, connections } = open({ maxProcesses: 4, maxPerTenant: 2 })
  const held = [await acquire(keyOf('a1', 'acme')), await acquire(keyOf('a2', 'acme'))]
  await expect(acquire(keyOf('a3', 'acme'))).rejects.toMatchObject(full)
  expect(await call('facts', keyOf('b1', 'globex'))).toMatchObject({ calls: 1 })
  for (const { release } of held) release()
  await call('facts', keyOf('a3', 'acme'))
  expect(connections.states()).toHaveLength(3)
})

test('a tenant at its cap gives up its longest idle process', async () => {
  const { call, clock } = open({ maxPerTenant: 2 })
  const first = pidOf(await call('facts', keyOf('a1', 'acme')))
  await clock.advance(1)
  const second = pidOf(await call('facts', keyOf('a2', 'acme')))
  await clock.advance(1)
  await call('facts', keyOf('a3', 'acme'))
  expect([isAlive(first), isAlive(second)]).toEqual([false, true])
})

test('one tenant cannot take all processes, whatever the cap per tenant says', async () => {
  const { acquire, call } = open({ maxProcesses: 2, maxPerTenant: 5 })
  await acquire(keyOf('a1', 'acme'))
  await expect(acquire(keyOf('a2', 'acme'))).rejects.toMatchObject(full)
  expect(await call('facts', keyOf('b1', 'globex'))).toMatchObject({ calls: 1 })
})

test('at the cap in all, an idle process of the tenant that has most is ended, never of one that has fewer', async () => {
  const { call, clock, acquire } = open({ maxProcesses: 4, maxPerTenant: 3 })
  const other = pidOf(await call('facts', keyOf('b1', 'globex')))
  await clock.advance(1)
  const most = pidOf(await call('facts', keyOf('a1', 'acme')))
  await clock.advance(1)
  await acquire(keyOf('a2', 'acme'))
  await acquire(keyOf('a3', 'acme'))
  await call('facts', keyOf('c1', 'initech'))
  expect([isAlive(other), isAlive(most)]).toEqual([true, false])
  // Now each has few, so the tenant with two cannot take the one of another.
  await expect(acquire(keyOf('a4', 'acme'))).rejects.toMatchObject(full)
  expect(isAlive(other)).toBe(true)
})

test('a refusal for lack of a place is not a crash', async () => {
  const { acquire, connections } = open({ maxProcesses: 2, maxPerTenant: 1 })
  const { release } = await acquire(keyOf('a1', 'acme'))
  await expect(acquire(keyOf('a2', 'acme'))).rejects.toMatchObject(full)
  expect(connections.states()).toHaveLength(1)
  release()
  await acquire(keyOf('a2', 'acme'))
})

test('the upstreams of a gateway share its places', async () => {
  const first = open({ maxProcesses: 3, maxPerTenant: 2 })
  const second = open({ host: first.host })
  await first.acquire(keyOf('a1', 'acme'))
  await second.acquire(keyOf('a1', 'acme'))
  await expect(first.acquire(keyOf('a2', 'acme'))).rejects.toMatchObject(full)
  await second.acquire(keyOf('b1', 'globex'))
  await expect(first.acquire(keyOf('c1', 'initech'))).rejects.toMatchObject(full)
})
