import { expect, test } from 'vitest'
import { assertJsonRpcError, assertJsonRpcSuccess } from './json-rpc.ts'

const success = { jsonrpc: '2.0', id: 1, result: {} }
const failure = { jsonrpc: '2.0', id: 1, error: { code: -32601, message: 'Method not found: x' } }

test('a result is a success and an error is an error', () => {
  assertJsonRpcSuccess(success)
  assertJsonRpcError(failure)
  assertJsonRpcError({ jsonrpc: '2.0', error: failure.error })
})

test.each([
  null,
  undefined,
  [],
  'x',
  { id: 1, result: {} },
  { jsonrpc: '2.0', id: 1 },
  { jsonrpc: '2.0', result: {} },
  failure,
])('not a success: %j', (response) => expect(() => assertJsonRpcSuccess(response)).toThrow(/^Expected /))

test.each([
  null,
  { error: failure.error },
  { jsonrpc: '2.0', id: 1, error: { code: 'x' } },
  { ...failure, result: {} },
  success,
])('not an error: %j', (response) => expect(() => assertJsonRpcError(response)).toThrow(/^Expected /))
