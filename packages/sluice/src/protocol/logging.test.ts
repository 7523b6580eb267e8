import { expect, test } from 'vitest'
import { aCall } from '../testing/call.ts'
import { clientLog } from './logging.ts'

const cycle: { self?: unknown } = {}
cycle.self = cycle

test.each([
  ['a BigInt', { rows: 1n }, '[object]'],
  ['a cycle', cycle, '[object]'],
  ['nothing', undefined, '[undefined]'],
  ['a function', () => 1, '[function]'],
  ['text', 'done', 'done'],
  ['null', null, null],
])('a log message with %s is sent, and does not fail the work', (_, data, sent) => {
  const messages: unknown[] = []
  const call = aCall({ revision: '2025-11-25', notify: (...message) => messages.push(message) })
  clientLog(call)('info', data)
  expect(messages).toEqual([['notifications/message', { level: 'info', data: sent }]])
})
