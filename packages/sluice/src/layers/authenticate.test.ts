import { expect, test, vi } from 'vitest'
import type { Call, Caller, Via } from '../core/call.ts'
import { anonymous } from '../core/call.ts'
import { createConnection } from '../core/connection.ts'
import { RpcError } from '../core/error.ts'
import { createStop } from '../core/stop.ts'
import { aCall, asyncPipeline } from '../testing/call.ts'
import { fakeClock, settle } from '../testing/clock.ts'
import type { AuthenticateOptions } from './authenticate.ts'
import { authenticateLayer } from './authenticate.ts'
import type { Verifier } from './identities/authenticate-credential.ts'

const named = (subject: string, rest: Partial<Caller> = {}): Caller => ({
  ...{ ...anonymous, subject, credential: 'test' },
  ...rest,
})
/** Accepts `good-ann` as ann, and nothing else. */
const verifier: Verifier = {
  verify: async (token) => (token.startsWith('good-') ? named(token.slice(5)) : undefined),
}
const via = (transport: Via['transport'], authorization?: string): Via => ({
  ...{ transport, peer: 'test' },
  header: (name) => (name.toLowerCase() === 'authorization' ? authorization : undefined),
})
function serving(options: Partial<AuthenticateOptions> = {}) {
  const clock = fakeClock()
  const seen: Call[] = []
  const work = async (call: Call) => {
    seen.push(call)
    return { content: [] }
  }
  return { clock, seen, serve: asyncPipeline([authenticateLayer({ verifiers: [verifier], ...options }, clock)], work) }
}
const refusalOf = (served: Promise<unknown>): Promise<unknown> =>
  served.then(
    () => 'served',
    ({ reason, message }: RpcError) => `${reason}: ${message}`,
  )
const refused = 'unauthorized: Authentication required'

test.each<[string, Via, Call['params'], Partial<AuthenticateOptions>, string]>([
  ['the header over HTTP', via('http', 'Bearer good-ann'), {}, {}, 'ann'],
  ['the scheme in any case', via('http', 'bEARER  good-ann'), {}, {}, 'ann'],
  ['params.token on a pipe', via('stdio'), { token: 'good-ann' }, {}, 'ann'],
  ['params.token in memory', via('memory'), { token: 'good-ann' }, {}, 'ann'],
  ['params.token over HTTP if it is enabled', via('http'), { token: 'good-ann' }, { paramsToken: true }, 'ann'],
  ['the environment on a pipe', via('stdio'), {}, { stdioToken: 'good-env' }, 'env'],
  ['the environment if params.token is null', via('stdio'), { token: null }, { stdioToken: 'good-env' }, 'env'],
  ['header before params', via('http', 'Bearer good-h'), { token: 'good-p' }, { paramsToken: true }, 'h'],
  ['params before environment', via('stdio'), { token: 'good-p' }, { stdioToken: 'good-env' }, 'p'],
])('a token is found in %s', async (_, from, params, options, subject) => {
  const { serve, seen } = serving(options)
  const call = aCall({ via: from, params })
  await serve(call)
  expect(seen[0]?.caller.subject).toBe(subject)
  expect(call.facts).toMatchObject({ caller: subject, credential: 'test' })
})

test.each<[string, Via, Call['params'], Partial<AuthenticateOptions>]>([
  ['no token', via('http'), {}, {}],
  ['an empty header', via('http', ''), {}, {}],
  ['Bearer and nothing', via('http', 'Bearer'), {}, {}],
  ['Bearer and blanks', via('http', 'Bearer   '), {}, {}],
  ['another scheme', via('http', 'Basic good-ann'), {}, {}],
  ['a token without a scheme', via('http', 'good-ann'), {}, {}],
  ['two headers joined', via('http', 'Bearer good-ann, Bearer good-bob'), {}, {}],
  ['a token with a blank in it', via('http', 'Bearer good-ann x'), {}, {}],
  ['a token longer than any', via('http', `Bearer good-${'a'.repeat(9000)}`), {}, {}],
  ['a token that no verifier accepts', via('http', 'Bearer bad'), {}, {}],
  ['a bad header and a good params.token', via('http', 'Basic x'), { token: 'good-ann' }, { paramsToken: true }],
  ['a bad params.token and a good environment', via('stdio'), { token: 'bad' }, { stdioToken: 'good-env' }],
  ['a params.token that is not a string', via('stdio'), { token: 5 }, { stdioToken: 'good-env' }],
  ['an empty params.token', via('stdio'), { token: '' }, { stdioToken: 'good-env' }],
  ['params.token over HTTP', via('http'), { token: 'good-ann' }, {}],
  ['params.token on a WebSocket', via('websocket'), { token: 'good-ann' }, {}],
  ['the environment over HTTP', via('http'), {}, { stdioToken: 'good-env' }],
  ['the environment in memory', via('memory'), {}, { stdioToken: 'good-env' }],
])('%s is refused with one text, and nothing runs', async (_, from, params, options) => {
  const { serve, seen } = serving(options)
  expect(await refusalOf(serve(aCall({ via: from, params })))).toBe(refused)
  expect(seen).toEqual([])
})

test('a refusal contains what a challenge needs and nothing of the token', async () => {
  const { serve } = serving()
  await expect(serve(aCall({ via: via('http', 'Bearer bad-secret') }))).rejects.toMatchObject({
    data: { error: 'invalid_token' },
  })
  await expect(serve(aCall())).rejects.toSatisfy((thrown: RpcError) => Object.keys(thrown.data).length === 0)
})

test('scopes are named to anonymous callers only if the target is listed for every caller', async () => {
  const { serve } = serving()
  const call = aCall()
  const aimed = (listed: boolean): Call => ({
    ...call,
    target: { ...call.target, policy: { ...call.target.policy, scopes: ['a'], listed } },
  })
  await expect(serve(aimed(true))).rejects.toMatchObject({ data: { scopes: ['a'] } })
  await expect(serve(aimed(false))).rejects.toSatisfy((thrown: RpcError) => !('scopes' in thrown.data))
})

test.each(['initialize', 'ping', 'server/discover'])('%s needs no token, but a bad one is refused', async (method) => {
  const { serve, seen } = serving()
  await serve(aCall({ method, via: via('http') }))
  expect(seen[0]?.caller).toBe(anonymous)
  for (const bad of ['Bearer bad', 'Basic good-ann', ''])
    expect(await refusalOf(serve(aCall({ method, via: via('http', bad) })))).toBe(refused)
  expect(seen).toHaveLength(1)
})

test('public methods are configurable, for example tools/list', async () => {
  const { serve, seen } = serving({ publicMethods: ['tools/list'] })
  await serve(aCall({ method: 'tools/list' }))
  expect(seen).toHaveLength(1)
  expect(await refusalOf(serve(aCall({ method: 'initialize' })))).toBe(refused)
})

test.each<[string, Via, string]>([
  ['was used', via('stdio'), 'tools/call'],
  ['was not allowed', via('http', 'Bearer good-ann'), 'tools/call'],
  ['came with a public method', via('http'), 'ping'],
])('inner layers do not see params.token when it %s', async (_, from, method) => {
  const { serve, seen } = serving()
  const params = { name: 'a-tool', token: 'good-ann', arguments: { token: 'a tool’s own' } }
  await serve(aCall({ method, via: from, params, args: params }))
  const rest = { name: 'a-tool', arguments: { token: 'a tool’s own' } }
  expect(seen[0]?.params).toEqual(rest)
  expect(seen[0]?.args).toEqual(rest)
})

test('inner layers do not see the header, in any spelling, but see the others', async () => {
  const { serve, seen } = serving()
  const header = (name: string): string | undefined =>
    ({ authorization: 'Bearer good-ann', 'x-other': 'kept' })[name.toLowerCase()]
  await serve(aCall({ via: { ...via('http'), header } }))
  const inside = seen[0]?.via
  expect([inside?.header('authorization'), inside?.header('Authorization'), inside?.header('x-other')]).toEqual([
    undefined,
    undefined,
    'kept',
  ])
  expect(JSON.stringify([seen[0]?.facts, seen[0]?.params, seen[0]?.caller])).not.toContain('good-ann')
})

test('an expired caller is refused even if the verifier does not check expiry', async () => {
  const { serve, clock } = serving({ verifiers: [{ verify: async () => named('ann', { expires: 10 }) }] })
  const call = aCall({ via: via('http', 'Bearer x') })
  expect(await refusalOf(serve(call))).toBe('served')
  await clock.advance(10)
  expect(await refusalOf(serve(call))).toBe(refused)
})

test('a verifier that cannot decide does not lock out the callers of another', async () => {
  const away: Verifier = { verify: () => Promise.reject(new RpcError('storeUnavailable', 'away')) }
  const { serve } = serving({ verifiers: [away, verifier] })
  expect(await refusalOf(serve(aCall({ via: via('http', 'Bearer good-ann') })))).toBe('served')
  expect(await refusalOf(serve(aCall({ via: via('http', 'Bearer bad') })))).toBe('storeUnavailable: away')
})

test('a verifier with a bug admits no caller', async () => {
  const { serve, seen } = serving({ verifiers: [{ verify: () => Promise.reject(new Error('bug')) }] })
  await expect(serve(aCall({ via: via('http', 'Bearer good-ann') }))).rejects.toThrow('bug')
  expect(seen).toEqual([])
})

test('without a verifier it does not start', () => {
  expect(() => authenticateLayer({ verifiers: [] }, fakeClock())).toThrow('verifiers')
})

test('a session belongs to the first principal on it, and does not exist for another', async () => {
  const { serve, clock } = serving()
  const connection = createConnection({ id: 's', clock, answerWithinMs: 1 })
  const by = (who: string, transport: Via['transport'] = 'http'): Promise<unknown> =>
    refusalOf(serve(aCall({ via: { ...via(transport, `Bearer good-${who}`), connection } })))
  expect(await by('ann')).toBe('served')
  expect(await by('bob')).toBe('sessionNotFound: Session not found: send initialize again')
  expect(await by('ann')).toBe('served')
})

test('a pipe has one client, whatever principal it acts for', async () => {
  const { serve, clock } = serving()
  const connection = createConnection({ id: 'p', clock, answerWithinMs: 1 })
  for (const token of ['good-ann', 'good-bob'])
    expect(await refusalOf(serve(aCall({ via: { ...via('stdio'), connection }, params: { token } })))).toBe('served')
})

/** A stream that stays open until its call is stopped. */
function streaming(verify: Verifier['verify'], onChange?: NonNullable<Verifier['onChange']>) {
  const clock = fakeClock()
  const call = aCall({ via: via('http', 'Bearer x'), stop: createStop() })
  const endless = { ...call.target, policy: { ...call.target.policy, timeoutMs: Number.POSITIVE_INFINITY } }
  const open = asyncPipeline(
    [authenticateLayer({ verifiers: [{ verify, ...(onChange && { onChange }) }] }, clock)],
    (inside) => new Promise((_, reject) => inside.stop.onStop(reject)),
  )
  const ended = refusalOf(open({ ...call, target: endless }))
  return { clock, ended, stop: call.stop }
}

test('a stream ends when its credential expires, not before', async () => {
  const { clock, ended, stop } = streaming(async () => named('ann', { expires: 150_000 }))
  await clock.advance(149_999)
  expect(stop.reason).toBeUndefined()
  await clock.advance(1)
  expect(await ended).toBe(refused)
  expect(clock.pending).toBe(0)
})

test('a stream ends within seconds of its credential being revoked', async () => {
  let good = true
  const { clock, ended, stop } = streaming(async () => (good ? named('ann') : undefined))
  await clock.advance(600_000)
  expect(stop.reason).toBeUndefined()
  good = false
  await clock.advance(5_000)
  expect(await ended).toBe(refused)
})

test('a stream ends within seconds of its credential losing a scope, and goes on if it gains one', async () => {
  let scopes = new Set(['read'])
  const { clock, ended, stop } = streaming(async () => named('ann', { scopes }))
  scopes = new Set(['read', 'write'])
  await clock.advance(600_000)
  expect(stop.reason).toBeUndefined()
  scopes = new Set(['write'])
  await clock.advance(5_000)
  expect(await ended).toBe(refused)
})

test('if the verifier reports the change, a stream ends at once, and no other is rechecked', async () => {
  let good = true
  const listeners = new Set<(credential: string) => void>()
  const verify = vi.fn<Verifier['verify']>(async () => (good ? named('ann') : undefined))
  const { ended, stop } = streaming(verify, (listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  })
  await settle()
  const tell = (credential: string): void => {
    for (const listener of listeners) listener(credential)
  }
  tell('of another caller')
  await settle()
  expect(verify).toHaveBeenCalledTimes(1)
  tell(named('ann').credential)
  await settle()
  expect(verify).toHaveBeenCalledTimes(2)
  expect(stop.reason).toBeUndefined()
  good = false
  tell(named('ann').credential)
  expect(await ended).toBe(refused)
})

test('a store that is unavailable for a while does not end streams, but they still expire', async () => {
  const verify = vi.fn<Verifier['verify']>(() => Promise.reject(new RpcError('storeUnavailable', 'away')))
  verify.mockResolvedValueOnce(named('ann', { expires: 300_000 }))
  const { clock, ended, stop } = streaming(verify)
  await clock.advance(299_999)
  expect(verify.mock.calls.length).toBeGreaterThan(5)
  expect(stop.reason).toBeUndefined()
  await clock.advance(1)
  expect(await ended).toBe(refused)
})

test('an ended stream is not rechecked, and calls that end by themselves never are', async () => {
  const { clock, ended, stop } = streaming(async () => named('ann', { expires: 300_000 }))
  await settle()
  expect(clock.pending).toBe(1)
  stop.stop(new RpcError('cancelled', 'Cancelled'))
  expect(await ended).toBe('cancelled: Cancelled')
  expect(clock.pending).toBe(0)
  const { serve, clock: other } = serving()
  await serve(aCall({ via: via('http', 'Bearer good-ann') }))
  expect(other.pending).toBe(0)
})
