/**
 * Connecting, staying and disconnecting, in short; `npm run soak -- idle-streams stalled-reader connections` is the
 * long form.
 */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectAndLeaveMany, openStreams, patterns, stallUntilClosed } from '../kit/clients/connection-churn.client.ts'
import type { MeasuredServer } from '../kit/processes/measured-server.ts'
import { isBackTo, startMeasuredServer } from '../kit/processes/measured-server.ts'

let door: MeasuredServer
beforeAll(async () => {
  door = await startMeasuredServer()
}, 30_000)
afterAll(() => door.stop())

test('however clients connect and disconnect, nothing of them stays', { timeout: 120_000 }, async () => {
  await connectAndLeaveMany(door.port, patterns.length, 4)
  const before = await door.until(({ connections, descriptors }) => connections === 0 && descriptors < 40)
  await connectAndLeaveMany(door.port, 10 * patterns.length, 10)
  const after = await door.until((held) => isBackTo(before, held))
  expect(after).toMatchObject({ connections: 0, listeners: 0, underway: 0, stragglers: 0, halfClosed: 0 })
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
})

test('idle streams are all held, and released when they end', { timeout: 120_000 }, async () => {
  const before = await door.measure()
  const streams = await openStreams(door.port, 200)
  expect((await door.measure()).listeners).toBe(200)
  for (const stream of streams) stream.destroy()
  const after = await door.until((held) => isBackTo(before, held))
  expect(after.listeners).toBe(0)
  expect(after.descriptors).toBeLessThanOrEqual(before.descriptors)
})

test('a reader that stalls is disconnected', { timeout: 120_000 }, async () => {
  await stallUntilClosed(door.port)
  const { flooded, underway } = await door.until((held) => held.flooded > 0)
  // Half a minute after the last byte was sent; otherwise it would continue for a minute.
  expect(flooded).toBeGreaterThan(1024 * 1024)
  expect(underway).toBe(0)
})
