import { expect, test } from 'vitest'
import type { Reason } from '../../core/error.ts'
import { RpcError } from '../../core/error.ts'
import type { Params } from '../../core/json.ts'
import { protectedResource } from '../../core/protected-resource.ts'
import { challengeHeaders } from './challenge.ts'

const resource = protectedResource({
  resource: 'https://mcp.example/mcp',
  authorizationServers: ['https://issuer.example'],
  scopes: ['read', 'list'],
})
const metadata = 'resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/mcp"'
const headersOf = (reason: Reason, data: Params = {}, with_: typeof resource | undefined = resource) =>
  challengeHeaders(new RpcError(reason, 'x', { data }), with_)

test.each<[string, Reason, Params, string]>([
  ['no token', 'unauthorized', {}, `Bearer scope="read list", ${metadata}`],
  [
    'a bad token',
    'unauthorized',
    { error: 'invalid_token' },
    `Bearer error="invalid_token", scope="read list", ${metadata}`,
  ],
  ['no token for a listed tool', 'unauthorized', { scopes: ['deploy'] }, `Bearer scope="deploy", ${metadata}`],
  [
    'too few scopes',
    'insufficientScope',
    { scopes: ['deploy:write', 'a'] },
    `Bearer error="insufficient_scope", scope="deploy:write a", ${metadata}`,
  ],
])('%s is answered with a challenge that says how to authenticate', (_, reason, data, challenge) => {
  expect(headersOf(reason, data)).toEqual({ 'www-authenticate': challenge })
})

test('without an authorization server the challenge names only Bearer, the error and the scope', () => {
  expect(challengeHeaders(new RpcError('unauthorized', 'x'))).toEqual({ 'www-authenticate': 'Bearer' })
  expect(challengeHeaders(new RpcError('insufficientScope', 'x', { data: { scopes: ['a'] } }))).toEqual({
    'www-authenticate': 'Bearer error="insufficient_scope", scope="a"',
  })
})

test.each(['a"b', 'a\\b', 'a\r\nSet-Cookie: x=1', 'a\nb', 'a b', 'ä', '\u0000', '', 5, null, {}])(
  'the scope %j does not get into a header',
  (scope) => {
    const data = { scopes: [scope, 'good'] }
    expect(headersOf('insufficientScope', data)['www-authenticate']).toContain('scope="good"')
    expect(headersOf('unauthorized', data)['www-authenticate']).toContain('scope="good"')
  },
)

test('only the error code invalid_token gets into a header', () => {
  expect(headersOf('unauthorized', { error: 'x"\r\nEvil: 1' })).toEqual(headersOf('unauthorized'))
  expect(headersOf('insufficientScope', { scopes: 'text' })['www-authenticate']).not.toContain('scope=')
})

test.each<[unknown, string | undefined]>([
  [1, '1'],
  [0, '1'],
  [1000, '1'],
  [1001, '2'],
  [59_999, '60'],
  ['5', undefined],
  [Number.NaN, undefined],
  [Number.POSITIVE_INFINITY, undefined],
  [undefined, undefined],
])('retryAfterMs %s gives Retry-After %s', (retryAfterMs, seconds) => {
  for (const reason of ['rateLimited', 'overloaded', 'storeUnavailable'] as const)
    expect(headersOf(reason, { retryAfterMs })['retry-after']).toBe(seconds)
})

test('other refusals have no headers', () => {
  expect(headersOf('forbidden', { scopes: ['a'] })).toEqual({})
  expect(headersOf('invalidParams')).toEqual({})
})
