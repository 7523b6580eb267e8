import { expect, test } from 'vitest'
import { createEventParser } from './event-parser.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const text =
  ': comment\r\nid: 7\rdata: a\ndata:b\n\nevent: endpoint\r\ndata:  ü👋\r\n\r\nretry: 20\nid: x\u0000\ndata\n\ndata: unfinished'
const expected = [
  { type: 'message', data: 'a\nb' },
  { type: 'endpoint', data: ' ü👋' },
  { type: 'message', data: '' },
]

test.each([1, 2, 3, 7, 1000])('events are read in pieces of %i bytes', (size) => {
  const bytes = encode(text)
  const parser = createEventParser(1000)
  const events = []
  for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(bytes.subarray(at, at + size)))
  expect(events).toEqual(expected)
  expect(parser.lastEventId).toBe('7')
  expect(parser.retryMs).toBe(20)
})
test('an event that is too long is refused, in one piece and in many', () => {
  expect(() => createEventParser(10).push(encode('data: 12345678901\n\n'))).toThrow('more than 10 bytes')
  const parser = createEventParser(10)
  for (let i = 0; i < 4; i++) parser.push(encode('da'))
  expect(() => {
    for (let i = 0; i < 4; i++) parser.push(encode('da'))
  }).toThrow('more than 10 bytes')
})
