import { expect, test } from 'vitest'
import { fakeClock } from '../../../testing/clock.ts'
import { createRetainedStreams, streamLimits } from './retained-streams.ts'

const large = 'x'.repeat(900_000)

test('streams that have ended keep a bounded number of characters per session, whatever their size', () => {
  const retained = createRetainedStreams(fakeClock())
  const session = retained.forSession()
  for (let call = 0; call < 64; call++) {
    const stream = session.open(`s${call}`, false, undefined)
    stream.write(large)
    stream.close()
  }
  expect(retained.size).toBeLessThanOrEqual(streamLimits.session)
  // The newest can still be resumed.
  expect(session.get('s63')?.canReplayFrom(0)).toBe(true)
  expect(session.get('s0')).toBeUndefined()
})

test('all sessions of a process together keep a bounded number of characters', () => {
  const retained = createRetainedStreams(fakeClock())
  const sessions = Array.from({ length: 200 }, () => retained.forSession())
  for (const session of sessions) {
    const stream = session.open('s', false, undefined)
    stream.write(large)
    stream.close()
  }
  expect(retained.size).toBeLessThanOrEqual(streamLimits.process)
  expect(sessions.at(-1)?.get('s')?.canReplayFrom(0)).toBe(true)
  expect(sessions[0]?.get('s')).toBeUndefined()
})

test('a running stream is forgotten after those that have ended, and continues without its past', () => {
  const retained = createRetainedStreams(fakeClock())
  const session = retained.forSession()
  const running = session.open('running', false, undefined)
  running.write('"first"')
  for (let call = 0; call < 3; call++) {
    const stream = session.open(`s${call}`, false, undefined)
    stream.write(large)
    stream.close()
  }
  expect(running.canReplayFrom(0)).toBe(true)
  // Another running stream takes all the space.
  session.open('other', false, undefined).write('x'.repeat(2 * streamLimits.session))
  expect(running.canReplayFrom(0)).toBe(false)
  running.write('"second"')
  expect(running.canReplayFrom(1)).toBe(true)
})

test('a stream that ended minutes ago is forgotten', async () => {
  const clock = fakeClock()
  const retained = createRetainedStreams(clock)
  const session = retained.forSession()
  const stream = session.open('s', false, undefined)
  stream.write('"answer"')
  stream.close()
  for (let minute = 0; minute < 10; minute++) {
    retained.sweep()
    await clock.advance(60_000)
  }
  expect(retained.size).toBeGreaterThan(0)
  await clock.advance(60_000)
  retained.sweep()
  expect(retained.size).toBe(0)
})

test('a closed session keeps nothing, not even of a call that still writes', () => {
  const retained = createRetainedStreams(fakeClock())
  const session = retained.forSession()
  const stream = session.open('s', false, undefined)
  stream.write('"early"')
  session.close()
  stream.write('"late"')
  expect(retained.size).toBe(0)
})
