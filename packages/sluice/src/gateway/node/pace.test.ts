import { PassThrough } from 'node:stream'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { pace } from './pace.ts'

async function write(stream: PassThrough, bytes: number): Promise<void> {
  stream.write(Buffer.alloc(bytes))
  await new Promise(setImmediate)
}

test('a stream that exceeds its bytes per second is read again when the second has passed', async () => {
  const clock = fakeClock()
  const stream = new PassThrough()
  pace(stream, 100, clock)
  await write(stream, 60)
  expect(stream.isPaused()).toBe(false)
  await write(stream, 60)
  expect(stream.isPaused()).toBe(true)
  await clock.advance(999)
  expect(stream.isPaused()).toBe(true)
  await clock.advance(1)
  expect(stream.isPaused()).toBe(false)
})

test('bytes that are charged count like read ones', async () => {
  const stream = new PassThrough()
  const charge = pace(stream, 100, fakeClock())
  charge(90)
  await write(stream, 20)
  expect(stream.isPaused()).toBe(true)
})

test('a slow stream is never paused', async () => {
  const clock = fakeClock()
  const stream = new PassThrough()
  pace(stream, 100, clock)
  for (let second = 0; second < 5; second++) {
    await write(stream, 90)
    expect(stream.isPaused()).toBe(false)
    await clock.advance(1000)
  }
})

test('a stream that is closed leaves no timer', async () => {
  const clock = fakeClock()
  const stream = new PassThrough()
  pace(stream, 100, clock)
  await write(stream, 200)
  expect(clock.pending).toBe(1)
  stream.destroy()
  await new Promise(setImmediate)
  expect(clock.pending).toBe(0)
})
