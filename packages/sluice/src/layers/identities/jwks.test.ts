import { Buffer } from 'node:buffer'
import { createHash, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { SignJWT } from 'jose'
import { afterEach, expect, test } from 'vitest'
import type { LogLine } from '../../core/log.ts'
import { silentLogger } from '../../core/log.ts'
import { aCall } from '../../testing/call.ts'
import { fakeClock } from '../../testing/clock.ts'
import { jwt } from './jwt.ts'

const issuer = 'https://issuer.example'
const audience = 'https://mcp.example'
const start = Date.UTC(2026, 10, 16)
const minute = 60_000

type Respond = (request: IncomingMessage, response: ServerResponse) => void
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const makeKey = (kid: string) => ({ kid, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) })
const setOf = (...keys: ReturnType<typeof makeKey>[]): string =>
  JSON.stringify({ keys: keys.map(({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid })) })
const json =
  (text: string | Buffer, headers = {}): Respond =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)
  }
const status =
  (code: number, headers = {}): Respond =>
  (_, response) => {
    response.writeHead(code, headers).end(setOf(real))
  }

const real = makeKey('real')

const connectionsOf = (server: Server): Promise<number> =>
  new Promise((resolve) => server.getConnections((_, count) => resolve(count)))

/** An issuer on loopback whose behaviour a test changes during the run. */
async function anIssuer(first: Respond) {
  const state = { respond: first, hits: 0 }
  const server = createServer((request, response) => {
    state.hits++
    state.respond(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  const clock = fakeClock(start)
  const lines: LogLine[] = []
  const logger = {
    ...silentLogger,
    warn: (line: LogLine) => {
      lines.push(line)
    },
  }
  const verifier = jwt({ jwks: `http://127.0.0.1:${port}/jwks`, issuer, audience }, { clock, logger })
  let made = 0
  const tokenBy = ({ kid, privateKey }: ReturnType<typeof makeKey>): Promise<string> =>
    new SignJWT({ iss: issuer, aud: audience, sub: 'ann', jti: String(++made), exp: start / 1000 + 7 * 86_400 })
      .setProtectedHeader({ alg: 'ES256', kid })
      .sign(privateKey)
  /** Always uses a fresh token, so that nothing is cached. */
  const outcome = async (key: ReturnType<typeof makeKey>): Promise<string> => {
    try {
      return (await verifier.verify(await tokenBy(key), aCall())) ? 'vouched' : 'refused'
    } catch (thrown) {
      return thrown instanceof Error && 'reason' in thrown ? String(thrown.reason) : 'bug'
    }
  }
  const verify = (token: string) => verifier.verify(token, aCall())
  return { state, clock, lines, outcome, verify, server }
}

test('keys are fetched once, and a rotation is followed', async () => {
  const [old, young] = [makeKey('old'), makeKey('young')]
  const { state, clock, outcome } = await anIssuer(json(setOf(old)))
  expect([await outcome(old), await outcome(old), state.hits]).toEqual(['vouched', 'vouched', 1])
  await clock.advance(minute)
  state.respond = json(setOf(old, young))
  expect([await outcome(young), await outcome(old), state.hits]).toEqual(['vouched', 'vouched', 2])
  await clock.advance(minute)
  state.respond = json(setOf(young))
  expect(await outcome(old)).toBe('vouched')
  await clock.advance(10 * minute)
  // Old keys are refreshed while no call waits for it.
  await outcome(young)
  await expect.poll(() => state.hits).toBe(3)
  await expect.poll(() => outcome(old)).toBe('refused')
})

test('after a night without calls a withdrawn key is refused at once, and the known keys are used if the issuer hangs', async () => {
  const [stolen, young] = [makeKey('stolen'), makeKey('young')]
  const { state, clock, outcome } = await anIssuer(json(setOf(stolen)))
  expect(await outcome(stolen)).toBe('vouched')
  await clock.advance(minute)
  state.respond = json(setOf(young))
  await clock.advance(8 * 60 * minute)
  expect(await Promise.all([outcome(stolen), outcome(young), outcome(stolen)])).toEqual([
    'refused',
    'vouched',
    'refused',
  ])
  expect(state.hits).toBe(2)
  state.respond = () => {}
  await clock.advance(8 * 60 * minute)
  const first = outcome(young)
  await expect.poll(() => state.hits).toBe(3)
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(5_000)
  expect(await first).toBe('vouched')
  expect(await outcome(young)).toBe('vouched')
})

test('a thousand tokens with invented key ids cause one fetch per cooldown', async () => {
  const real = makeKey('real')
  const { state, clock, outcome } = await anIssuer(json(setOf(real)))
  const stranger = makeKey('stranger')
  await outcome(real)
  const storm = () =>
    Promise.all(Array.from({ length: 1000 }, (_, i) => outcome({ ...stranger, kid: `invented-${i}` })))
  expect(new Set(await storm())).toEqual(new Set(['refused']))
  expect(state.hits).toBe(1)
  await clock.advance(30_000)
  await storm()
  expect(state.hits).toBe(2)
  expect(await outcome(real)).toBe('vouched')
})

test('concurrent callers share the first fetch', async () => {
  const real = makeKey('real')
  const { state, outcome } = await anIssuer(json(setOf(real)))
  expect(await Promise.all(Array.from({ length: 20 }, () => outcome(real)))).toEqual(Array(20).fill('vouched'))
  expect(state.hits).toBe(1)
})

const padding = 'x'.repeat(600 * 1024)
test.each<[string, Respond]>([
  ['is down', (request) => request.socket.destroy()],
  ['answers 500', status(500)],
  ['answers 204', status(204)],
  ['redirects', status(302, { location: 'http://169.254.169.254/latest' })],
  ['answers no JSON', json('<html>')],
  ['answers no key set', json('{"keys":5}')],
  ['answers a set of nonsense', json('{"keys":[5]}')],
  ['answers nesting without end', json(`{"keys":[{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}]}`)],
  ['answers too much', json(JSON.stringify({ ...JSON.parse(setOf(real)), padding }))],
  [
    'answers too much, compressed',
    json(gzipSync(Buffer.from(`{"padding":"${padding}"}`)), { 'content-encoding': 'gzip' }),
  ],
  ['answers too many keys', json(JSON.stringify({ keys: Array.from({ length: 101 }, () => ({ kty: 'EC' })) }))],
])('with an issuer that %s known keys are used, and without any no caller is admitted', async (_, trouble) => {
  const { state, clock, outcome, lines } = await anIssuer(trouble)
  expect([await outcome(real), await outcome(real), state.hits]).toEqual(['storeUnavailable', 'storeUnavailable', 1])
  expect(lines).toMatchObject([{ event: 'jwks', outcome: 'failed', serving: 'no keys' }])
  state.respond = json(setOf(real))
  await clock.advance(5_000)
  expect(await outcome(real)).toBe('vouched')
  state.respond = trouble
  for (let hour = 0; hour < 23; hour++) {
    await clock.advance(60 * minute)
    expect(await outcome(real)).toBe('vouched')
  }
  await expect.poll(() => lines.at(-1)).toMatchObject({ serving: 'known keys' })
  expect(await outcome(makeKey('unknown'))).toBe('refused')
  // Not for ever: an attacker who blocks the issuer must not keep a stolen key valid.
  await clock.advance(2 * 60 * minute)
  expect(await outcome(real)).toBe('storeUnavailable')
})

test('a redirect is not followed, not even to a valid key set', async () => {
  const elsewhere = await anIssuer(json(setOf(real)))
  const { port } = elsewhere.server.address() as AddressInfo
  const { outcome } = await anIssuer(status(302, { location: `http://127.0.0.1:${port}/` }))
  expect(await outcome(real)).toBe('storeUnavailable')
  expect(elsewhere.state.hits).toBe(0)
})

test.each<[string, Respond]>([
  ['never answers', () => {}],
  [
    'stops in the middle',
    (_, response) => {
      response.writeHead(200).write('{"keys":[')
    },
  ],
])('an issuer that %s is waited for five seconds, and not at all once its keys are known', async (_, slow) => {
  const { state, clock, outcome, server } = await anIssuer(slow)
  const first = outcome(real)
  await expect.poll(() => state.hits).toBe(1)
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(5_000)
  expect(await first).toBe('storeUnavailable')
  expect(clock.pending).toBe(0)
  // The request is aborted too, because an issuer that hangs must not collect our connections.
  await expect.poll(() => connectionsOf(server)).toBe(0)
  state.respond = json(setOf(real))
  expect(await outcome(real)).toBe('vouched')
  state.respond = slow
  await clock.advance(11 * minute)
  expect(await outcome(real)).toBe('vouched')
  await expect.poll(() => state.hits).toBe(3)
  expect(await outcome(real)).toBe('vouched')
  await clock.advance(5_000)
  expect(clock.pending).toBe(0)
})

test('a key set may contain unusable keys', async () => {
  const set: { keys: unknown[] } = JSON.parse(setOf(real))
  const odd = [{ kty: 'oct', k: 'AAAA', kid: 'real' }, { kty: 'EC', crv: 'P-999' }, {}, { kty: 'RSA', use: 'enc' }]
  const { outcome } = await anIssuer(json(JSON.stringify({ keys: [...odd, ...set.keys] })))
  expect(await outcome(real)).toBe('vouched')
})

test('a key for which anyone can sign is ignored', async () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const weak = { ...publicKey.export({ format: 'jwk' }), e: 'AQ', kid: 'weak' }
  const { verify } = await anIssuer(json(JSON.stringify({ keys: [weak] })))
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { iss: issuer, aud: audience, sub: 'root', exp: start / 1000 + 60 }
  const input = `${part({ alg: 'RS256', kid: 'weak' })}.${part(claims)}`
  // With the exponent 1 a signature is the padded hash itself.
  const hash = Buffer.concat([Buffer.from(sha256Info, 'hex'), createHash('sha256').update(input).digest()])
  const padded = Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(253 - hash.length, 0xff), Buffer.from([0]), hash])
  expect(padded).toHaveLength(256)
  expect(await verify(`${input}.${padded.toString('base64url')}`)).toBeUndefined()
})
const sha256Info = '3031300d060960864801650304020105000420'

test('a private key in a public set verifies no token', async () => {
  const leaked = { ...real.privateKey.export({ format: 'jwk' }), kid: 'real' }
  const { outcome } = await anIssuer(json(JSON.stringify({ keys: [leaked] })))
  expect(await outcome(real)).toBe('refused')
})

test('a clock that is set back stops neither the refresh nor the rotation', async () => {
  const [old, young] = [makeKey('old'), makeKey('young')]
  const { state, clock, outcome } = await anIssuer(json(setOf(old)))
  expect(await outcome(old)).toBe('vouched')
  clock.set(start - 30 * minute)
  await clock.advance(minute)
  state.respond = json(setOf(young))
  expect(await outcome(young)).toBe('vouched')
  await clock.advance(11 * minute)
  await outcome(young)
  await expect.poll(() => state.hits).toBe(3)
})
