/**
 * Connecting a Strava account: a real authorization server behind Strava's paths, and its API with the documented JSON.
 */

import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../test/kit/processes/programs.ts'
import { createStrava } from '../src/strava/oauth.ts'
import { createVault } from '../src/strava/seal.ts'
import { aFolder, anArchive, dataOf, now, openFitness, textOf } from './server.fixture.ts'

interface Double {
  url: string
  /** The requests to the API, each with query and token. */
  readonly requests: { readonly query: URLSearchParams; readonly token: string }[]
  /** Tokens that the API no longer accepts. */
  readonly expired: Set<string>
  status: number
  history: (typeof activity)[]
  /** The request that fails, counted from 1. */
  failAt: number
}

/** oidc-provider with Strava's paths and its comma-separated scopes; the API accepts every token that it issued. */
async function stravaDouble(redirect: string): Promise<Double> {
  const asked: Double['requests'] = []
  const expired = new Set<string>()
  const double: Double = { url: '', requests: asked, expired, status: 200, history: [activity], failAt: 0 }
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server: Server = createServer((request, response) => {
    if (request.url?.startsWith('/api/v3/')) return api(request, response)
    // Strava separates scopes by commas, the standard by spaces.
    request.url = request.url?.replace('read%2Cactivity%3Aread', 'openid+offline_access') ?? '/'
    handle(request, response)
  })
  function api(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://double')
    const token = request.headers.authorization?.replace('Bearer ', '') ?? ''
    asked.push({ query: url.searchParams, token })
    response.writeHead(expired.has(token) ? 401 : double.status, { 'content-type': 'application/json' })
    // As Strava does: newest first, or oldest first with `after` only.
    const bound = (name: string, otherwise: number): number => Number(url.searchParams.get(name) ?? otherwise)
    const found = double.history.filter(({ start_date }) => {
      const at = Date.parse(start_date) / 1000
      return at > bound('after', 0) && at < bound('before', Number.POSITIVE_INFINITY)
    })
    const sorted = found.sort((a, b) => (a.start_date < b.start_date ? 1 : -1))
    if (url.searchParams.has('after')) sorted.reverse()
    const [page, size] = [bound('page', 1), bound('per_page', 30)]
    if (asked.length === double.failAt) response.destroy()
    else response.end(JSON.stringify(sorted.slice((page - 1) * size, page * size)))
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close().closeAllConnections()
  })
  double.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(double.url, {
    clients: [
      {
        client_id: '123',
        client_secret: 'a-client-secret-of-some-length',
        redirect_uris: [redirect],
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ],
    routes: { authorization: '/oauth/authorize', token: '/oauth/token' },
    pkce: { required: () => true },
    issueRefreshToken: async () => true,
    features: { devInteractions: { enabled: false } },
    ttl: {
      AccessToken: 21_600,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
    interactions: { url: (_, interaction) => `/consent/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    cookies: { keys: ['a test’s own'] },
  })
  const { callback } = provider
  const serve = callback.call(provider)
  handle = (request, response) => {
    const failed = (): void => {
      response.destroy()
    }
    if (!request.url?.startsWith('/consent/')) {
      serve(request, response).catch(failed)
      return
    }
    // The user consents.
    const consent = async (): Promise<void> => {
      const _details = await provider.interactionDetails(request, response)
      const grant = new provider.Grant({ accountId: 'athlete', clientId: '123' })
      grant.addOIDCScope('openid offline_access')
      await provider.interactionFinished(
        request,
        response,
        { login: { accountId: 'athlete' }, consent: { grantId: await grant.save() } },
        { mergeWithLastSubmission: false },
      )
    }
    consent().catch(failed)
  }
  return double
}

/** A SummaryActivity as in Strava's reference. */
const activity = {
  id: 154504250376823,
  name: 'Happy Friday',
  distance: 24931.4,
  moving_time: 4500,
  elapsed_time: 4500,
  total_elevation_gain: 0,
  type: 'Ride',
  sport_type: 'MountainBikeRide',
  start_date: '2026-05-02T12:15:09Z',
  average_speed: 5.54,
  has_heartrate: true,
  average_heartrate: 140.3,
  max_heartrate: 178,
  average_watts: 175.3,
}

/** A browser that keeps cookies and follows redirects. */
async function followLink(start: string): Promise<{ readonly status: number; readonly text: string }> {
  const jar = new Map<string, string>()
  let url = start
  for (let hops = 0; hops < 15; hops++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
    }
    const next = response.headers.get('location')
    if (!next) return { status: response.status, text: await response.text() }
    url = new URL(next, url).href
  }
  throw new Error('too many redirects')
}

async function opened() {
  const archive = anArchive()
  const clock = fakeClock(now)
  const folder = aFolder()
  const port = await freePort()
  const double = await stravaDouble(`http://127.0.0.1:${port}/callback`)
  const settings = {
    clientId: '123',
    clientSecret: 'a-client-secret-of-some-length',
    baseUrl: double.url,
    redirectUrl: undefined,
    port,
  }
  const vault = createVault(folder, undefined)
  const logger = { info() {}, warn() {}, error() {} }
  const strava = createStrava(settings, archive, vault, clock, logger)
  onTestFinished(() => strava.close())
  return { double, strava, ...(await openFitness({ archive, strava }, clock)) }
}

const codeOn = ({ status, text }: { readonly status: number; readonly text: string }): string => {
  expect(status).toBe(200)
  return /Your code: ([\d ]+)/.exec(text)?.[1] ?? ''
}
type Caller = Awaited<ReturnType<typeof openFitness>>['alice']
async function connected(caller: Caller): Promise<void> {
  const { url } = dataOf(await caller('connect_provider', { provider: 'strava' })) as { url: string }
  const code = codeOn(await followLink(url))
  expect(dataOf(await caller('connect_provider', { provider: 'strava', code }))).toMatchObject({ connected: true })
}

test('connect, consent, activities, disconnect; tokens are encrypted at rest', async () => {
  const { alice, archive, double } = await opened()
  const { url } = dataOf(await alice('connect_provider', { provider: 'strava' })) as { url: string }
  const code = codeOn(await followLink(url))
  expect(dataOf(await alice('connect_provider', { provider: 'strava' }))).toMatchObject({
    connected: false,
    next: expect.stringContaining('code'),
  })
  expect(dataOf(await alice('connect_provider', { provider: 'strava', code }))).toMatchObject({ connected: true })
  expect(dataOf(await alice('connect_provider', { provider: 'strava' }))).toMatchObject({ connected: true })
  expect(dataOf(await alice('get_activities', { provider: 'strava', mode: 'detailed' }))).toMatchObject({
    total: 1,
    synthetic: false,
    activities: [
      {
        id: 'strava-154504250376823',
        sport: 'ride',
        distance_m: 24_931,
        average_power: 175.3,
        start: '2026-05-02T12:15:09.000Z',
      },
    ],
  })
  expect((await archive.forTenant('alice').connection('strava'))?.sealed).not.toContain(
    double.requests[0]?.token ?? 'x',
  )
  // The second time only newer activities are requested.
  await alice('get_activities', { provider: 'strava' })
  expect(double.requests.at(-1)?.query.get('after')).toBe(String(now / 1000 - 86_400))
  await alice('disconnect_provider', { provider: 'strava' })
  expect(textOf(await alice('get_activities', { provider: 'strava' }))).toContain('Strava is not connected')
})

test('an expired token is renewed before it is used', async () => {
  const { alice, clock, double } = await opened()
  await connected(alice)
  await alice('get_activities', { provider: 'strava' })
  await clock.advance(7 * 3600 * 1000)
  await alice('get_activities', { provider: 'strava' })
  expect(double.requests.at(-1)?.token).not.toBe(double.requests[0]?.token)
})

test('a forged state, one of another tenant, an expired one and a reused one are refused', async () => {
  const { alice, strava, clock, archive } = await opened()
  const { url } = dataOf(await alice('connect_provider', { provider: 'strava' })) as { url: string }
  const link = new URL(url)
  const [state, callback] = [link.searchParams.get('state') ?? '', link.searchParams.get('redirect_uri') ?? '']
  const [body = '', code = ''] = state.split('.')
  const forged = Buffer.from(JSON.stringify(['bob', 'bob', Number.MAX_SAFE_INTEGER])).toString('base64url')
  for (const bad of ['', 'x.y', `${forged}.${code}`, `${body}.${code.slice(1)}`])
    expect((await followLink(`${callback}?code=c&state=${bad}`)).status).toBe(400)
  expect((await followLink(`${callback}?code=made-up&state=${state}`)).status).toBe(502)
  // Not a URL, and the listener must outlive it.
  expect((await fetch(`${new URL(callback).origin}//`)).status).toBe(400)
  await clock.advance(16 * 60_000)
  expect((await followLink(`${callback}?code=c&state=${state}`)).status).toBe(400)
  expect(await archive.forTenant('bob').connection('strava')).toBeUndefined()
  expect(await strava.link('alice', 'alice')).toContain('code_challenge_method=S256')
})

test('a sign-in link opened by another person connects nothing: only the caller who requested it can finish, with the code', async () => {
  const { alice, as, archive } = await opened()
  // Mallory sends her link to a victim, who consents.
  const mallory = await as('mallory')
  const { url } = dataOf(await mallory('connect_provider', { provider: 'strava' })) as { url: string }
  const code = codeOn(await followLink(url))
  expect(await archive.forTenant('mallory').connection('strava')).toBeUndefined()
  expect(textOf(await mallory('get_activities', { provider: 'strava' }))).toContain('Strava is not connected')
  // The code is good for nobody else, and guessing it ends the sign-in.
  const colleague = await as('colleague', 'mallory')
  for (const other of [alice, colleague])
    expect(textOf(await other('connect_provider', { provider: 'strava', code }))).toContain('Start again')
  const guess = async (): Promise<string> =>
    textOf(await mallory('connect_provider', { provider: 'strava', code: '00000000' }))
  // Guesses that arrive together do not cost one try.
  const together = await Promise.all(Array.from({ length: 20 }, guess))
  const compared = together.filter((text) => text.includes('wrong')).length
  expect(compared).toBeGreaterThan(0)
  for (let tries = compared; tries < 5; tries++) expect(await guess()).toContain('wrong')
  expect(textOf(await mallory('connect_provider', { provider: 'strava', code }))).toContain('Start again')
  expect(await archive.forTenant('mallory').connection('strava')).toBeUndefined()
})

test('a code works once, and for ten minutes', async () => {
  const { alice, clock } = await opened()
  const { url } = dataOf(await alice('connect_provider', { provider: 'strava' })) as { url: string }
  const code = codeOn(await followLink(url))
  await clock.advance(11 * 60_000)
  expect(textOf(await alice('connect_provider', { provider: 'strava', code }))).toContain('Start again')
})

test('an interrupted first sync continues where it stopped, and no older activity is lost', async () => {
  const { alice, double, clock } = await opened()
  await connected(alice)
  const history = Array.from({ length: 250 }, (_, n) => ({
    ...activity,
    id: 1000 + n,
    start_date: new Date(now - (n + 1) * 86_400_000).toISOString(),
  }))
  double.history = history
  double.failAt = 2
  expect(textOf(await alice('get_activities', { provider: 'strava' }))).toContain('continues from there')
  const newer = { ...activity, id: 5000, start_date: new Date(now + 60_000).toISOString() }
  double.history = [newer, ...history]
  await clock.advance(3_600_000)
  expect(dataOf(await alice('get_activities', { provider: 'strava' }))).toMatchObject({ total: 251 })
  // From then on only newer activities are requested.
  const before = double.requests.length
  await alice('get_activities', { provider: 'strava' })
  expect(double.requests.slice(before).map(({ query }) => query.has('after'))).toEqual([true])
})

test.each([
  [401, 'Connect it again'],
  [429, 'try again in 15 minutes'],
  [500, 'try again later'],
])('Strava answers %i: the user is told what to do', async (status, text) => {
  const { alice, double } = await opened()
  await connected(alice)
  double.status = status
  expect(textOf(await alice('get_activities', { provider: 'strava' }))).toContain(text)
})

test("without an application the message names the operator's settings", async () => {
  const { alice } = await openFitness()
  expect(textOf(await alice('connect_provider', { provider: 'strava' }))).toContain('STRAVA_CLIENT_ID')
})

test('a secret sealed for one tenant does not open for another', () => {
  const vault = createVault(aFolder(), undefined)
  const sealed = vault.seal('secret', 'strava alice')
  expect(vault.open(sealed, 'strava alice')).toBe('secret')
  expect(vault.open(sealed, 'strava bob')).toBeUndefined()
  const other = sealed.startsWith('A') ? 'B' : 'A'
  expect(vault.open(`${other}${sealed.slice(1)}`, 'strava alice')).toBeUndefined()
  expect(createVault(aFolder(), undefined).open(sealed, 'strava alice')).toBeUndefined()
})
