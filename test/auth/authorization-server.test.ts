/** Access tokens of a real authorization server, checked through its real key set. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import { jwt } from '../../packages/sluice/src/layers/identities/jwt.ts'
import { aCall, fakeClock } from '../../packages/sluice/src/testing/index.ts'
import type { Issuer } from '../kit/servers/issuer.fixture.ts'
import { startIssuer } from '../kit/servers/issuer.fixture.ts'

const here = 'https://mcp.example/mcp'
const elsewhere = 'https://other.example/mcp'
let issuer: Issuer

beforeEach(async () => {
  issuer = await startIssuer([here, elsewhere], 'routes:read routes:write')
})
afterEach(() => issuer.close())

function verifying() {
  const clock = fakeClock(Date.now())
  const verifier = jwt({ jwks: `${issuer.url}/jwks`, issuer: issuer.url, audience: here }, { clock })
  const facts: { [fact: string]: string | number | undefined } = {}
  return { clock, facts, verify: (token: string) => verifier.verify(token, { ...aCall(), facts }) }
}

test('a token for this server names its client and its scopes', async () => {
  const { verify } = verifying()
  const caller = await verify(await issuer.token(here, 'routes:read'))
  expect(caller).toMatchObject({
    subject: 'robot',
    credential: `jwt ${issuer.url} robot`,
    scopes: new Set(['routes:read']),
    claims: { iss: issuer.url, aud: here, client_id: 'robot' },
  })
  expect((caller?.expires ?? 0) - Date.now()).toBeGreaterThan(500_000)
})

test('a token that the same server issued for another resource is refused', async () => {
  const { verify, facts } = verifying()
  expect(await verify(await issuer.token(elsewhere, 'routes:read'))).toBeUndefined()
  expect(facts['tokenRefused']).toBe('aud')
})

test('a token of another authorization server is refused', async () => {
  const other = await startIssuer([here], 'routes:read')
  const { verify } = verifying()
  expect(await verify(await other.token(here, 'routes:read'))).toBeUndefined()
  other.close()
})

test('a token expires when the server said it would', async () => {
  const { verify, clock } = verifying()
  const token = await issuer.token(here)
  expect(await verify(token)).toBeDefined()
  await clock.advance(660_000)
  expect(await verify(token)).toBeUndefined()
})

test('keys are rotated: new tokens are accepted at once, old ones while their key is published', async () => {
  const { verify, clock } = verifying()
  const old = await issuer.token(here)
  expect(await verify(old)).toBeDefined()
  issuer.rotate()
  await clock.advance(60_000)
  expect(await verify(await issuer.token(here))).toBeDefined()
  expect(await verify(old)).toBeDefined()
  expect(issuer.keyFetches).toBe(2)
  issuer.rotate({ forgetOld: true })
  await clock.advance(60_000)
  expect(await verify(await issuer.token(here))).toBeDefined()
  expect(await verify(old)).toBeUndefined()
  expect(issuer.keyFetches).toBe(3)
})

test('while it is down its cached keys are used', async () => {
  const { verify, clock } = verifying()
  const [one, two] = [await issuer.token(here), await issuer.token(here)]
  expect(await verify(one)).toBeDefined()
  issuer.down = true
  await clock.advance(120_000)
  expect(await verify(two)).toBeDefined()
  issuer.down = false
})
