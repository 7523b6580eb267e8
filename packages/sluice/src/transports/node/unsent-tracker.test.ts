import { Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { fakeClock } from '../../testing/clock.ts'
import { createUnsentTracker } from './unsent-tracker.ts'

/** A socket that is read only when the test does so. */
function reader(bytes: number) {
  const state = { bytes, left: bytes }
  const socket = new Socket()
  Object.defineProperty(socket, 'writableLength', { get: () => state.bytes })
  Object.defineProperty(socket, '_handle', { value: undefined, writable: true })
  return { socket, state }
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const make = (maxBytes?: number) => {
  const clock = fakeClock()
  const unsent = createUnsentTracker({ clock, maxBytes })
  const count = (name: string): number | undefined => unsent.gauges.find((each) => each.name === name)?.read()
  return { clock, unsent, count }
}

test('a client that reads nothing for half a minute is disconnected, and counted', async () => {
  const { clock, unsent, count } = make()
  const { socket } = reader(1_000)
  unsent.track({ socket })
  await turn()
  expect(count('sluice_unsent_bytes')).toBe(1_000)
  await clock.advance(29_000)
  expect(socket.destroyed).toBe(false)
  await clock.advance(1_000)
  expect(socket.destroyed).toBe(true)
  expect(count('sluice_connections_cut_total')).toBe(1)
  expect(clock.pending).toBe(0)
})

test('a client that reads a byte now and then stays connected, however long it takes', async () => {
  const { clock, unsent, count } = make()
  const { socket, state } = reader(10_000_000)
  unsent.track({ socket })
  await turn()
  for (let minute = 0; minute < 60; minute++) {
    state.bytes--
    await clock.advance(29_000)
  }
  expect(socket.destroyed).toBe(false)
  state.bytes = 0
  await clock.advance(1_000)
  expect([count('sluice_unsent_bytes'), clock.pending]).toEqual([0, 0])
})

test('an answer that was read within the turn costs no timer', async () => {
  const { clock, unsent } = make()
  const { socket, state } = reader(1_000)
  unsent.track({ socket })
  state.bytes = 0
  await turn()
  expect(clock.pending).toBe(0)
})

test('an answer that the kernel took at once costs no turn of the loop', () => {
  const { unsent } = make()
  const later = vi.spyOn(globalThis, 'setImmediate')
  onTestFinished(() => later.mockRestore())
  unsent.track(reader(0))
  expect(later).not.toHaveBeenCalled()
  unsent.track(reader(1))
  expect(later).toHaveBeenCalledOnce()
})

test('above the total limit, the connections that read nothing for the longest time are closed first', async () => {
  const { clock, unsent, count } = make(1_000)
  const [slow, stalled, young] = [reader(300), reader(400), reader(400)]
  for (const { socket } of [slow, stalled]) unsent.track({ socket })
  await turn()
  await clock.advance(5_000)
  slow.state.bytes--
  unsent.track(young)
  await turn()
  expect([slow, stalled, young].map(({ socket }) => socket.destroyed)).toEqual([false, true, false])
  expect(count('sluice_unsent_bytes')).toBeLessThanOrEqual(1_000)
})
