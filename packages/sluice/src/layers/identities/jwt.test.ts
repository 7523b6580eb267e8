import { Buffer } from 'node:buffer'
import { constants, createHmac, createPublicKey, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import fc from 'fast-check'
import { exportJWK, SignJWT } from 'jose'
import { expect, test, vi } from 'vitest'
import type { Facts } from '../../core/call.ts'
import type { Params } from '../../core/json.ts'
import { aCall } from '../../testing/call.ts'
import { fakeClock } from '../../testing/clock.ts'
import type { JwtOptions } from './jwt.ts'
import { jwt } from './jwt.ts'

const start = Date.UTC(2026, 10, 16)
const now = start / 1000
const issuer = 'https://issuer.example'
const audience = 'https://mcp.example/mcp'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const ed = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const strangerEc = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const secret = 'a shared secret of more than thirty-two bytes'
const publicPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString()
const keys = [
  { ...(await exportJWK(rsa.publicKey)), kid: 'rsa', use: 'sig' },
  { ...(await exportJWK(ec.publicKey)), kid: 'ec' },
  { ...(await exportJWK(ed.publicKey)), kid: 'ed' },
]

const good = { iss: issuer, aud: audience, sub: 'ann', iat: now, exp: now + 600, scope: 'read write', client_id: 'cli' }
const signed = (
  claims: Params,
  header: { alg: string; [name: string]: unknown } = { alg: 'RS256', kid: 'rsa' },
  key: Parameters<SignJWT['sign']>[0] = rsa.privateKey,
): Promise<string> => new SignJWT({ ...claims }).setProtectedHeader(header).sign(key)

/** The order of P-256's group. As r and s it is zero in disguise. */
const order = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
/** Builds a token by hand that no library would make. */
const forged = (
  header: Params,
  signature: string | ((input: string) => Buffer) = '',
  claims: Params = good,
): string => {
  const input = `${part(header)}.${part(claims)}`
  return `${input}.${typeof signature === 'string' ? signature : signature(input).toString('base64url')}`
}
const hmacWith =
  (key: string | Buffer, hash = 'sha256') =>
  (input: string): Buffer =>
    createHmac(hash, key).update(input).digest()

function verifying(options: Partial<JwtOptions> = {}) {
  const clock = fakeClock(start)
  const fetch = vi.fn(() => Promise.reject(new Error('no fetch is expected')))
  const verifier = jwt({ keys, issuer, audience, ...options } as JwtOptions, { clock, fetch })
  const facts: Facts = {}
  const verify = (token: string) => verifier.verify(token, { ...aCall(), facts })
  return { clock, fetch, verify, facts }
}

test('a valid token has the caller, its scopes, its client and its expiry', async () => {
  const caller = await verifying().verify(await signed(good))
  expect(caller).toEqual({
    subject: 'ann',
    credential: `jwt ${issuer} cli`,
    scopes: new Set(['read', 'write']),
    claims: good,
    expires: (now + 600) * 1000,
  })
})

test.each([
  ['RS256', 'rsa', rsa],
  ['RS512', 'rsa', rsa],
  ['PS256', 'rsa', rsa],
  ['ES256', 'ec', ec],
  ['EdDSA', 'ed', ed],
  ['Ed25519', 'ed', ed],
])('%s is accepted with its key, with and without its id', async (alg, kid, { privateKey }) => {
  const { verify } = verifying()
  expect(await verify(await signed(good, { alg, kid }, privateKey))).toMatchObject({ subject: 'ann' })
  expect(await verify(await signed(good, { alg }, privateKey))).toMatchObject({ subject: 'ann' })
})

test('keys may be PEM or a shared secret too', async () => {
  const options = { issuer, audience }
  const outside = { clock: fakeClock(start) }
  const pem = jwt({ ...options, pem: `\n${publicPem}` }, outside)
  for (const alg of ['RS256', 'PS384'])
    expect(await pem.verify(await signed(good, { alg }), aCall())).toMatchObject({ subject: 'ann' })
  expect(await pem.verify(await signed(good, { alg: 'ES256' }, ec.privateKey), aCall())).toBeUndefined()
  const shared = jwt({ ...options, secret }, outside)
  expect(
    await shared.verify(await signed(good, { alg: 'HS256' }, new TextEncoder().encode(secret)), aCall()),
  ).toMatchObject({ subject: 'ann' })
})

test.each<[string, Params, readonly string[]]>([
  ['scope, a text', { scope: 'a b' }, ['a', 'b']],
  ['scope, a list', { scope: ['a', 'b'] }, ['a', 'b']],
  ['scp, a list', { scope: undefined, scp: ['a', 5, ''] }, ['a']],
  ['scp, a text', { scope: undefined, scp: 'a  b ' }, ['a', 'b']],
  ['scopes', { scope: undefined, scopes: ['a'] }, ['a']],
  ['the first that is there', { scope: 'a', scp: ['b'], scopes: ['c'] }, ['a']],
  ['nothing', { scope: undefined }, []],
  ['nonsense', { scope: { a: 1 } }, []],
])('scopes from %s', async (_, claims, scopes) => {
  const caller = await verifying().verify(await signed({ ...good, ...claims }))
  expect([...(caller?.scopes ?? ['none'])]).toEqual(scopes)
})

/** Every token below must be refused before it can cause a request. */
const attacks: readonly (readonly [string, string | Promise<string>])[] = [
  ['alg none', forged({ alg: 'none' })],
  ['alg None', forged({ alg: 'None' })],
  ['alg nOnE', forged({ alg: 'nOnE', kid: 'rsa' })],
  ['alg none with a signature', forged({ alg: 'none' }, 'AAAA')],
  ['alg missing', forged({ kid: 'rsa' })],
  ['alg a list', forged({ alg: ['RS256'], kid: 'rsa' })],
  ['alg an inherited name', forged({ alg: 'toString', kid: 'rsa' })],
  ['HS256 with the public key’s PEM', forged({ alg: 'HS256', kid: 'rsa' }, hmacWith(publicPem))],
  ['HS256 with the PEM without its last newline', forged({ alg: 'HS256' }, hmacWith(publicPem.trim()))],
  ['HS256 with the DER', forged({ alg: 'HS256' }, hmacWith(rsa.publicKey.export({ type: 'spki', format: 'der' })))],
  ['HS256 with the JWK', forged({ alg: 'HS256', kid: 'rsa' }, hmacWith(JSON.stringify(keys[0])))],
  ['HS256 with nothing', forged({ alg: 'HS256', kid: 'rsa' }, hmacWith(''))],
  ['HS512 with the public key’s PEM', forged({ alg: 'HS512', kid: 'rsa' }, hmacWith(publicPem, 'sha512'))],
  ['ES256 with r = s = 0', forged({ alg: 'ES256', kid: 'ec' }, () => Buffer.alloc(64))],
  ['ES256 with r = s = n', forged({ alg: 'ES256', kid: 'ec' }, () => Buffer.from(`${order}${order}`, 'hex'))],
  [
    'ES256 as DER',
    forged({ alg: 'ES256', kid: 'ec' }, (input) => signBytes('sha256', Buffer.from(input), ec.privateKey)),
  ],
  ['EdDSA with zeros', forged({ alg: 'EdDSA', kid: 'ed' }, () => Buffer.alloc(64))],
  ['no signature', forged({ alg: 'RS256', kid: 'rsa' })],
  ['a stranger’s key', signed(good, { alg: 'RS256', kid: 'rsa' }, stranger.privateKey)],
  ['a stranger’s key without an id', signed(good, { alg: 'RS256' }, stranger.privateKey)],
  [
    'RS256 named PS256',
    forged({ alg: 'PS256', kid: 'rsa' }, (input) => signBytes('sha256', Buffer.from(input), rsa.privateKey)),
  ],
  ['the RSA key’s id on ES256', signed(good, { alg: 'ES256', kid: 'rsa' }, ec.privateKey)],
  [
    'an embedded jwk',
    embedded({
      jwk: createPublicKey(stranger.publicKey.export({ type: 'spki', format: 'pem' })).export({ format: 'jwk' }),
    }),
  ],
  ['an embedded jwk and our id', embedded({ kid: 'rsa', jwk: stranger.publicKey.export({ format: 'jwk' }) })],
  ['jku', embedded({ jku: 'https://evil.example/jwks.json', kid: 'evil' })],
  ['jku and our id', embedded({ jku: 'https://evil.example/jwks.json', kid: 'rsa' })],
  ['x5u', embedded({ x5u: 'https://evil.example/cert.pem' })],
  ['x5c', embedded({ x5c: ['MIIB'] })],
  ['a kid that is a path', embedded({ kid: '../../../../dev/null' })],
  ['a kid that is a query', embedded({ kid: "' OR 1=1 --" })],
  ['a kid that is an address', embedded({ kid: 'https://evil.example/key' })],
  ['HS256 with an empty key for a path', forged({ alg: 'HS256', kid: '/dev/null' }, hmacWith(''))],
  ['a kid that is a number', embedded({ kid: 5 })],
  ['a kid that is a list', embedded({ kid: ['rsa'] })],
  ['an unknown crit', signedByHand({ alg: 'RS256', kid: 'rsa', crit: ['exp'], exp: 1 })],
  ['a crit that names a missing member', signedByHand({ alg: 'RS256', kid: 'rsa', crit: ['b64'] })],
  ['a known crit', signedByHand({ alg: 'RS256', kid: 'rsa', crit: ['b64'], b64: true })],
  ['an unencoded payload', signedByHand({ alg: 'RS256', kid: 'rsa', crit: ['b64'], b64: false })],
  ['an empty crit', signedByHand({ alg: 'RS256', kid: 'rsa', crit: [] })],
  ['a crit that is null', signedByHand({ alg: 'RS256', kid: 'rsa', crit: null })],
  ['a header that is a list', `${part([])}.${part(good)}.AAAA`],
  ['a header that is no JSON', `bm90anNvbg.${part(good)}.AAAA`],
  ['five parts', 'a.b.c.d.e'],
  ['four parts', `${forged({ alg: 'RS256', kid: 'rsa' }, 'AAAA')}.x`],
  ['two parts', `${part({ alg: 'none' })}.${part(good)}`],
  ['only dots', '..'],
  ['nothing', ''],
  ['claims that are a list', signedText('[]')],
  ['claims that are no JSON', signedText('{')],
  ['claims that are null', signedText('null')],
  ['a claim that comes twice', signedText(`{"sub":"root",${JSON.stringify(good).slice(1)}`)],
  ['a claim twice, further in', signedText(`{"x":{"a":1,"a":2},${JSON.stringify(good).slice(1)}`)],
  ['a header member twice', signedHead('{"alg":"none","alg":"RS256","kid":"rsa"}')],
  ['a claim called __proto__', signedText(`{"__proto__":{"sub":"root"},${JSON.stringify(good).slice(1)}`)],
  ['a number past what numbers can tell', signedText(`{"tenant":9007199254740993,${JSON.stringify(good).slice(1)}`)],
  [
    'claims nested without end',
    signedText(`{"x":${'['.repeat(100)}${']'.repeat(100)},${JSON.stringify(good).slice(1)}`),
  ],
  ['claims that are no UTF-8', signedBytes(Buffer.from(`${JSON.stringify(good).slice(0, -1)},"x":"\xff"}`, 'latin1'))],
  ['another kind of JWT', signed(good, { alg: 'RS256', kid: 'rsa', typ: 'logout+jwt' })],
  ['a type that is not a string', signedByHand({ alg: 'RS256', kid: 'rsa', typ: 5 })],
  ['a wrong aud', signed({ ...good, aud: 'https://other.example' })],
  ['an aud that only begins like ours', signed({ ...good, aud: `${audience}/more` })],
  ['a list of aud without us', signed({ ...good, aud: ['https://other.example', 'x'] })],
  ['an empty list of aud', signed({ ...good, aud: [] })],
  ['an aud inside a list inside', signed({ ...good, aud: [[audience]] })],
  ['no aud', signed({ ...good, aud: undefined })],
  ['a wrong iss', signed({ ...good, iss: 'https://evil.example' })],
  ['an iss with a slash at its end', signed({ ...good, iss: `${issuer}/` })],
  ['an iss in capitals', signed({ ...good, iss: issuer.toUpperCase() })],
  ['a list of iss', signed({ ...good, iss: [issuer] })],
  ['no iss', signed({ ...good, iss: undefined })],
  ['exp a second ago', signed({ ...good, exp: now - 1 })],
  ['exp now', signed({ ...good, exp: now })],
  ['no exp', signed({ ...good, exp: undefined })],
  ['exp a text', signed({ ...good, exp: String(now + 600) })],
  ['exp null', signed({ ...good, exp: null })],
  ['exp beyond all numbers', signedText(JSON.stringify(good).replace(String(now + 600), '1e400'))],
  ['nbf in an hour', signed({ ...good, nbf: now + 3600 })],
  ['nbf a text', signed({ ...good, nbf: 'now' })],
  ['iat in an hour', signed({ ...good, iat: now + 3600 })],
  ['iat a text', signed({ ...good, iat: 'now' })],
  ['no sub', signed({ ...good, sub: undefined })],
  ['an empty sub', signed({ ...good, sub: '' })],
  ['a sub that is a number', signed({ ...good, sub: 5 })],
  ['a token bound to a key', signed({ ...good, cnf: { jkt: 'x' } })],
]
test.each(attacks)('%s is refused, without any request', async (_, made) => {
  const { verify, fetch } = verifying()
  expect(await verify(await made)).toBeUndefined()
  expect(fetch).not.toHaveBeenCalled()
})

/** Signs correctly, with a header that no library would sign. */
function signedByHand(header: Params, claims: Params = good): string {
  return forged(header, (input) => signBytes('sha256', Buffer.from(input), rsa.privateKey), claims)
}
function signedText(claims: string): string {
  return signedBytes(Buffer.from(claims))
}
function signedHead(header: string): string {
  return signedBytes(Buffer.from(JSON.stringify(good)), Buffer.from(header))
}
function signedBytes(claims: Buffer, header = Buffer.from('{"alg":"RS256","kid":"rsa"}')): string {
  const input = `${header.toString('base64url')}.${claims.toString('base64url')}`
  return `${input}.${signBytes('sha256', Buffer.from(input), rsa.privateKey).toString('base64url')}`
}
/** Signed by an attacker, whose header says where to find the key. */
function embedded(header: Params): string {
  return forged({ alg: 'RS256', ...header }, (input) => signBytes('sha256', Buffer.from(input), stranger.privateKey))
}

test('each row is refused for its named defect: the same token without it is accepted', async () => {
  const { verify } = verifying()
  expect(await verify(signedByHand({ alg: 'RS256', kid: 'rsa' }))).toMatchObject({ subject: 'ann' })
  expect(await verify(signedByHand({ alg: 'RS256', kid: 'rsa', typ: 'at+JWT' }))).toMatchObject({ subject: 'ann' })
  expect(await verify(signedText(JSON.stringify(good)))).toMatchObject({ subject: 'ann' })
  const pss = { key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
  const ps256 = forged({ alg: 'PS256', kid: 'rsa' }, (input) => signBytes('sha256', Buffer.from(input), pss))
  expect(await verify(ps256)).toMatchObject({ subject: 'ann' })
  const es256 = (input: string): Buffer =>
    signBytes('sha256', Buffer.from(input), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
  expect(await verify(forged({ alg: 'ES256', kid: 'ec' }, es256))).toMatchObject({ subject: 'ann' })
})

test('a token with one changed character is invalid', async () => {
  const { verify } = verifying()
  const token = await signed(good, { alg: 'ES256', kid: 'ec' }, ec.privateKey)
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= '
  await fc.assert(
    fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom(...digits), async (at, digit) => {
      fc.pre(token[at] !== digit)
      expect(await verify(token.slice(0, at) + digit + token.slice(at + 1))).toBeUndefined()
    }),
    { numRuns: 1000 },
  )
  expect(await verify(token)).toMatchObject({ subject: 'ann' })
})

test('a shared secret accepts no other algorithm, whatever the header says', async () => {
  const shared = jwt({ secret, issuer, audience }, { clock: fakeClock(start) })
  for (const token of [
    forged({ alg: 'HS512' }, hmacWith(secret, 'sha512')),
    forged({ alg: 'none' }),
    forged({ alg: 'HS256' }, hmacWith(`${secret}x`)),
    await signed(good),
  ])
    expect(await shared.verify(token, aCall())).toBeUndefined()
})

test('the algorithms can be restricted further than the keys do', async () => {
  const { verify } = verifying({ algorithms: ['ES256'] })
  expect(await verify(await signed(good, { alg: 'ES256', kid: 'ec' }, ec.privateKey))).toBeDefined()
  expect(await verify(await signed(good))).toBeUndefined()
})

test('an issuer whose clock is a little ahead, and one of several audiences, are fine', async () => {
  const { verify } = verifying({ audience: ['https://old.example', audience] })
  expect(await verify(await signed({ ...good, iat: now + 30, nbf: now + 30, aud: ['x', audience] }))).toBeDefined()
})

test('the tolerance keeps a token valid for exactly that long', async () => {
  const { verify, clock } = verifying({ clockToleranceSeconds: 60 })
  const token = await signed({ ...good, exp: now - 59 })
  expect(await verify(token)).toMatchObject({ expires: start + 1000 })
  await clock.advance(1000)
  expect(await verify(token)).toBeUndefined()
})

test('the reason of a refusal is logged, without any part of the token', async () => {
  const { verify, facts } = verifying()
  const reasons = []
  for (const token of [
    await signed({ ...good, aud: 'x' }),
    await signed({ ...good, exp: now - 100 }),
    await signed({ ...good, exp: now - 1 }),
    embedded({ kid: 'rsa' }),
    embedded({ kid: 'secret-looking' }),
    signedByHand({ alg: 'RS256', typ: 'x' }),
  ]) {
    await verify(token)
    reasons.push(facts['tokenRefused'])
  }
  expect(reasons).toEqual([
    ...['aud', 'exp', 'exp', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED', 'ERR_JWKS_NO_MATCHING_KEY', 'typ'],
  ])
})

test('a verified token is not verified again for a minute, and no longer than it lives', async () => {
  const { verify, clock } = verifying()
  const check = vi.spyOn(crypto.subtle, 'verify')
  const token = await signed(good)
  const before = check.mock.calls.length
  for (let i = 0; i < 10; i++) await verify(token)
  expect(check.mock.calls.length - before).toBe(1)
  await clock.advance(60_000)
  await verify(token)
  expect(check.mock.calls.length - before).toBe(2)
  const short = await signed({ ...good, exp: now + 90 })
  expect(await verify(short)).toBeDefined()
  await clock.advance(30_000)
  expect(await verify(short)).toBeUndefined()
  check.mockRestore()
})

test('a refused token is not cached, nor mistaken for another', async () => {
  const { verify } = verifying()
  const token = await signed(good)
  expect(await verify(`${token.slice(0, -4)}AAAA`)).toBeUndefined()
  expect(await verify(token)).toBeDefined()
  expect(await verify(`${token.slice(0, -4)}AAAA`)).toBeUndefined()
})

test('a valid token has one spelling: padding, blanks and stray bits make it invalid', async () => {
  const { verify } = verifying()
  const token = await signed(good)
  const [head, claims, signature = ''] = token.split('.')
  // 256 bytes leave four unused bits in the last digit, which is therefore one of A, Q, g and w.
  const stray = signature.slice(0, -1) + ({ A: 'B', Q: 'R', g: 'h', w: 'x' }[signature.slice(-1)] ?? '')
  for (const other of [`${signature}==`, ` ${signature}`, `${signature}\n`, stray])
    expect(await verify(`${head}.${claims}.${other}`)).toBeUndefined()
  expect(await verify(token)).toBeDefined()
})

test('a token without a key id is tried with a few matching keys, and no more', async () => {
  const many = await Promise.all(
    Array.from({ length: 12 }, async () => exportJWK(generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey)),
  )
  const check = vi.spyOn(crypto.subtle, 'verify')
  const { verify } = verifying({ keys: many } as Partial<JwtOptions>)
  const token = await signed(good, { alg: 'ES256' }, strangerEc.privateKey)
  const before = check.mock.calls.length
  expect(await verify(token)).toBeUndefined()
  expect(check.mock.calls.length - before).toBe(4)
  check.mockRestore()
  const two = [await exportJWK(strangerEc.publicKey), await exportJWK(ec.publicKey)]
  const { verify: ambiguous } = verifying({ keys: two } as Partial<JwtOptions>)
  expect(await ambiguous(await signed(good, { alg: 'ES256' }, ec.privateKey))).toBeDefined()
})

test('two issuers may both have an ann: the operator says how they differ', async () => {
  const { verify } = verifying({ subject: ({ iss, sub }) => `${String(iss)} ${String(sub)}` })
  expect(await verify(await signed(good))).toMatchObject({ subject: `${issuer} ann` })
})

test.each<[string, object]>([
  ['algorithms', { keys, algorithms: ['none'] }],
  ['algorithms', { keys, algorithms: ['HS256'] }],
  ['algorithms', { pem: publicPem, algorithms: ['RS256', 'HS256'] }],
  ['algorithms', { secret, algorithms: ['RS256'] }],
  ['algorithms', { keys, algorithms: [] }],
  ['exactly one', { keys, secret }],
  ['exactly one', {}],
  ['public keys only', { keys: [rsa.privateKey.export({ format: 'jwk' })] }],
  ['public keys only', { keys: [{ kty: 'oct', k: 'AAAA' }] }],
  ['pem', { pem: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }) }],
  ['pem', { pem: 'nonsense' }],
  ['at least 32', { secret: 'short' }],
  ['at least 64', { secret, algorithms: ['HS512'] }],
  ['must be https', { jwks: 'http://issuer.example/jwks' }],
  ['must be https', { jwks: 'http://localhost.evil.example/jwks' }],
  ['must be https', { jwks: 'http://127.0.0.1@evil.example/jwks' }],
  ['must be https', { jwks: 'file:///etc/passwd' }],
  ['must be https', { jwks: 'nonsense' }],
  ['clockToleranceSeconds', { keys, clockToleranceSeconds: 61 }],
  ['clockToleranceSeconds', { keys, clockToleranceSeconds: Number.NaN }],
  ['"issuer" and "audience"', { keys, issuer: '' }],
  ['"issuer" and "audience"', { keys, audience: [] }],
  ['"issuer" and "audience"', { keys, audience: '' }],
  ['"issuer" and "audience"', { keys, audience: [audience, ''] }],
])('an unsafe configuration is refused: %s', (text, options) => {
  expect(() => jwt({ issuer, audience, ...options } as JwtOptions)).toThrow(text)
})
