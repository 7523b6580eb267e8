import { expect, test } from 'vitest'
import type { Reason } from './error.ts'
import { codeOf, fail, RpcError, toWire } from './error.ts'

const table: readonly (readonly [Reason, legacy: number, modern: number])[] = [
  ['parseError', -32700, -32700],
  ['invalidRequest', -32600, -32600],
  ['methodNotFound', -32601, -32601],
  ['invalidParams', -32602, -32602],
  ['internalError', -32603, -32603],
  ['payloadTooLarge', -32600, 41300],
  ['unsupportedMedia', -32600, 41500],
  ['notAcceptable', -32600, 40600],
  ['badOrigin', -32600, 40310],
  ['methodNotAllowed', -32600, 40500],
  ['overloaded', -32000, 50300],
  ['shuttingDown', -32000, 50300],
  ['rateLimited', -32000, 42900],
  ['unauthorized', -32001, 40100],
  ['forbidden', -32003, 40300],
  ['insufficientScope', -32003, 40300],
  ['approvalInvalid', -32004, 40303],
  ['conflict', -32005, 40900],
  ['storeUnavailable', -32006, 50302],
  ['timeout', -32008, 50400],
  ['resourceNotFound', -32002, -32602],
  ['headerMismatch', -32602, -32020],
  ['missingCapability', -32602, -32021],
  ['unsupportedVersion', -32602, -32022],
  ['urlRequired', -32042, -32602],
]

test.each(table)('%s is %i before 2026-07-28 and %i from then on', (reason, legacy, modern) => {
  expect(codeOf(reason, 'legacy')).toBe(legacy)
  expect(codeOf(reason, 'modern')).toBe(modern)
})

test('an error carries its reason, a reference and the data that helps the client', () => {
  const thrown = new RpcError('rateLimited', 'Too many calls', { data: { retryAfterMs: 5 } })
  expect(toWire(thrown, 'legacy', 'r1')).toEqual({
    code: -32000,
    message: 'Too many calls',
    data: { reason: 'rateLimited', reference: 'r1', retryAfterMs: 5 },
  })
})

test.each([new Error('password is hunter2'), 'a string', undefined, null, { message: 'hunter2' }])(
  'a bug is sent without its text: %s',
  (bug) => {
    expect(toWire(bug, 'modern', 'r1')).toEqual({
      code: -32603,
      message: 'Internal error',
      data: { reason: 'internalError', reference: 'r1' },
    })
  },
)

test('fail makes a failure that the model should read', () => {
  expect(fail('Only 3 seats are left')).toMatchObject({ reason: 'toolFailed', message: 'Only 3 seats are left' })
})
