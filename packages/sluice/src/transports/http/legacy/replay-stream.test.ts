import { expect, test } from 'vitest'
import type { EventWriter } from '../events.ts'
import { createReplayStream, parseEventId } from './replay-stream.ts'

function createWriter(): EventWriter & { readonly text: string[] } {
  const text: string[] = []
  let closed = false
  return {
    text,
    write: (event) => {
      closed || text.push(event)
    },
    close: () => {
      closed = true
    },
    get closed() {
      return closed
    },
  }
}

test('missed events are sent again, from the event after the last one received', () => {
  const stream = createReplayStream('s', false, 1000)
  const first = createWriter()
  stream.attach(first)
  stream.write('"a"')
  first.close()
  stream.write('"b"')
  stream.write('"c"')
  const second = createWriter()
  stream.attach(second, 1)
  stream.write('"d"')
  stream.close()
  expect(second.text.join('').match(/data: .*/g)).toEqual(['data: "b"', 'data: "c"', 'data: "d"'])
  expect(second.closed).toBe(true)
})

test('a stream that has ended is replayed and closed at once', () => {
  const stream = createReplayStream('s', false, 1000)
  stream.write('"a"')
  stream.close()
  const late = createWriter()
  stream.attach(late, 0)
  expect(late.text).toEqual(['id: s.1\nevent: message\ndata: "a"\n\n'])
  expect(late.closed).toBe(true)
  expect(stream.closed).toBe(true)
})

test('a primed stream starts with an id to resume from, and says when to reconnect', () => {
  const stream = createReplayStream('s', true, 1000)
  const first = createWriter()
  stream.attach(first)
  stream.detach()
  expect(first.text).toEqual(['id: s.0\ndata: \n\n', 'retry: 1000\n\n'])
  expect(first.closed).toBe(true)
})

test('a newer connection takes over from an older one', () => {
  const stream = createReplayStream('s', false, 1000)
  const [old, fresh] = [createWriter(), createWriter()]
  stream.attach(old)
  stream.attach(fresh)
  stream.write('"a"')
  expect(old.closed).toBe(true)
  expect(fresh.text).toHaveLength(1)
})

test('the number of characters kept is bounded', () => {
  const stream = createReplayStream('s', false, 100)
  for (let i = 0; i < 1000; i++) stream.write('"0123456789"')
  expect(stream.size).toBeLessThanOrEqual(100)
})

test('resuming from events that are no longer kept is refused, instead of sending a part of them', () => {
  const stream = createReplayStream('s', false, 20)
  for (const data of ['"first event"', '"second event"', '"third event"']) stream.write(data)
  expect(stream.canReplayFrom(0)).toBe(false)
  expect(stream.canReplayFrom(2)).toBe(true)
  expect(stream.canReplayFrom(4)).toBe(false)
})

test.each([
  ['abc.12', { stream: 'abc', after: '12' }],
  ['a.b.3', { stream: 'a.b', after: '3' }],
  ['abc', undefined],
  ['.1', undefined],
  ['abc.', undefined],
  ['abc.1e9', undefined],
  ['abc.-1', undefined],
  [`abc.${'9'.repeat(40)}`, undefined],
])('the event id %s is parsed as %o', (text, expected) => {
  expect(parseEventId(text)).toEqual(expected)
})
