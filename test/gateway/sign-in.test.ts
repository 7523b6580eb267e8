/** Sign-in of each caller at an upstream: a real authorization server, a real resource server and a real browser. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import type { ServerOptions, Store } from 'sluice'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import type { Client } from 'sluice/client'
import { signIn } from 'sluice/gateway-auth'
import type { Gateway, UpstreamRule } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { sqliteStore } from 'sluice/sqlite'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startChromium } from '../kit/processes/chromium.ts'
import { freePort } from '../kit/processes/programs.ts'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import type { ResourceServer, SignInIssuer } from '../kit/servers/sign-in-issuer.ts'
import { consentByHttp, startResourceServer, startSignInIssuer } from '../kit/servers/sign-in-issuer.ts'
import { clientOf, namesOf, token, withTokens } from './kit.ts'

const secret = 'a secret of this test, long enough to be one'
const silent = { info() {}, warn() {}, error() {} }

let browser: Browser
let port: number
let issuer: SignInIssuer
let notes: ResourceServer
beforeAll(async () => {
  browser = await startChromium()
  port = await freePort()
  issuer = await startSignInIssuer([callback()])
  notes = await startResourceServer(issuer.url)
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await notes?.close()
  issuer?.close()
})
const callback = (): string => `http://127.0.0.1:${port}/sign-in/callback`

interface World {
  readonly team: Gateway
  readonly url: string
  close(): Promise<void>
}

/** A gateway with one upstream that callers sign in to. `store` outlives it. */
async function open(
  store: Store = memoryStore(),
  client: SignInIssuer['client'] | null = issuer.client,
  url = notes.url,
  more: { readonly use?: ServerOptions['use']; readonly rules?: readonly UpstreamRule[] } = {},
): Promise<World> {
  const notesUpstream = upstream({
    ...{ name: 'notes', url, rules: more.rules ?? [] },
    auth: signIn({ redirectUrl: callback(), ...(client && { client }) }),
  })
  const team = gateway({ name: 'team', version: '1.0.0', startMs: 60_000, upstreams: [notesUpstream] })
  const endpoint = team.endpoints['notes']
  if (!endpoint) throw new Error('no endpoint')
  const server = createServer(endpoint, { store, secret, use: [log(silent), ...withTokens, ...(more.use ?? [])] })
  const serving = await serveHttp(server, { port })
  let closing: Promise<void> | undefined
  const close = (): Promise<void> => {
    closing ??= serving.close()
    return closing
  }
  onTestFinished(close)
  return { team, url: serving.url, close }
}

/** A person who signs in as `account`, consents, and reads the code of the page. */
const consent = async (url: string, account: string): Promise<string> => codeIn(await consentByHttp(url, account))
const codeIn = (text: string | null): string => /Your code: (\d{4} \d{4})/.exec(text ?? '')?.[1] ?? `no code: ${text}`

/** The same in a real browser. */
async function consentInBrowser(url: string, account: string): Promise<string> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(url)
  await page.locator('input[name=login]').fill(account)
  await page.locator('input[name=password]').fill('any')
  await page.locator('button[type=submit]').click()
  await page.locator('button[type=submit]', { hasText: 'Continue' }).click()
  const heading = await page.locator('h1').textContent()
  await context.close()
  return codeIn(heading)
}

interface Asked {
  readonly pages: string[]
  readonly messages: string[]
}
/** A client whose person opens pages as `account` and types the code that `codeOf` makes of the shown one. */
async function clientFor(
  { url }: World,
  who: string,
  account: string,
  codeOf: (shown: string, round: number) => string = (shown) => shown,
  sign = consent,
): Promise<Client & { readonly asked: Asked }> {
  const asked: Asked = { pages: [], messages: [] }
  let shown: Promise<string> | undefined
  let round = 0
  const client = await clientOf(
    url,
    {
      revision: '2026-07-28',
      handlers: {
        url: (params) => {
          asked.pages.push(String(params['url']))
          shown = sign(String(params['url']), account)
          return { action: 'accept' }
        },
        form: async (params) => {
          asked.messages.push(String(params['message']))
          // Both questions are asked at once, so the page may be opened a moment later.
          await expect.poll(() => shown).toBeDefined()
          return { action: 'accept', content: { code: codeOf((await shown) ?? '', round++) } }
        },
      },
    },
    token(who),
  )
  return Object.assign(client, { asked })
}
const textOf = (result: { readonly [member: string]: unknown }): unknown =>
  (result['content'] as readonly { text?: string }[] | undefined)?.[0]?.text
const whoami = async (client: Client): Promise<unknown> => textOf(await client.callTool('whoami', {}))

test('the first caller signs in with the tool, and then the tools of the upstream are listed', async () => {
  const world = await open(memoryStore(), null)
  const client = await clientFor(world, 'acme.alice', 'alice')
  expect(await namesOf(client.tools())).toEqual(['sign_in'])
  const answer = textOf(await client.callTool('sign_in', {})) as string
  const [url = ''] = /http:\S+/.exec(answer) ?? []
  const code = await consentInBrowser(url, 'alice')
  expect(textOf(await client.callTool('sign_in', { code }))).toContain('Signed in')
  expect(await namesOf(client.tools())).toEqual(['whoami', 'write', 'sign_in'])
  expect(await whoami(client)).toBe('alice')
})

test('a call asks for the page and the code in one round, and two people never share a token', async () => {
  const world = await open()
  const [alice, bob] = [
    await clientFor(world, 'acme.alice', 'alice-at-notes', (shown) => shown, consentInBrowser),
    await clientFor(world, 'acme.bob', 'bob-at-notes'),
  ]
  await world.team.signIns.confirm(
    { tenant: 'acme', subject: 'first' },
    'notes',
    await consentInBrowser(
      (await world.team.signIns.start({ tenant: 'acme', subject: 'first' }, 'notes')).url,
      'first',
    ),
  )
  notes.credentials.length = 0
  expect(await Promise.all([whoami(alice), whoami(bob)])).toEqual(['alice-at-notes', 'bob-at-notes'])
  expect(await Promise.all([whoami(bob), whoami(alice)])).toEqual(['bob-at-notes', 'alice-at-notes'])
  // The same subject of another tenant is another person.
  const other = await clientFor(world, 'globex.alice', 'alice-at-globex')
  expect(await whoami(other)).toBe('alice-at-globex')
  expect([alice, bob, other].map(({ asked }) => asked.pages.length)).toEqual([1, 1, 1])
  expect(alice.asked.messages).toEqual(['Type the code that the page of notes shows after the sign-in'])
  // Each token is one of the authorization server. No token of a client is among them.
  expect(notes.credentials).toHaveLength(3)
  for (const each of notes.credentials) expect(issuer.tokens).toContain(each)
})

test('a link that another person opens connects nothing', async () => {
  const world = await open()
  const victim = { tenant: 'acme', subject: 'victim' }
  const mallory = { tenant: 'acme', subject: 'mallory' }
  const { signIns } = world.team
  const { url } = await signIns.start(mallory, 'notes')
  const code = await consentInBrowser(url, 'victim-at-notes')
  expect(code).toMatch(/^\d{4} \d{4}$/)
  expect(await signIns.list(mallory)).toEqual([{ upstream: 'notes', state: 'waiting' }])
  expect(await signIns.list(victim)).toEqual([{ upstream: 'notes', state: 'signed out' }])
  // The victim's own client cannot use the code for the victim, nor does it connect mallory.
  await expect(signIns.confirm(victim, 'notes', code)).rejects.toThrow('No sign-in to notes waits')
  const wrong = code.startsWith('0') ? '11111111' : '00000000'
  // Guesses that arrive together do not cost one try.
  const guesses = await Promise.allSettled(Array.from({ length: 20 }, () => signIns.confirm(mallory, 'notes', wrong)))
  const compared = guesses.filter((guess) => guess.status === 'rejected' && String(guess.reason).includes('wrong'))
  expect(compared.length).toBeGreaterThan(0)
  for (let tries = compared.length; tries < 4; tries++)
    await expect(signIns.confirm(mallory, 'notes', wrong)).rejects.toThrow('wrong')
  await expect(signIns.confirm(mallory, 'notes', wrong)).rejects.toThrow('last try')
  // After the last try even the right code is void.
  await expect(signIns.confirm(mallory, 'notes', code)).rejects.toThrow('No sign-in to notes waits')
  expect(await signIns.list(mallory)).toEqual([{ upstream: 'notes', state: 'signed out' }])
})

test('the page works once, and only with a state of this gateway', async () => {
  const world = await open()
  const context = await browser.newContext()
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const { url } = await world.team.signIns.start({ tenant: 'acme', subject: 'ann' }, 'notes')
  const state = new URL(url).searchParams.get('state') ?? ''
  await page.goto(`${callback()}?error=access_denied&state=${state}&iss=${encodeURIComponent(issuer.url)}`)
  expect(await page.textContent('h1')).toBe('The sign-in to notes failed')
  const again = await page.goto(`${callback()}?code=x&state=${state}`)
  expect(again?.status()).toBe(400)
  expect(await page.textContent('body')).toContain('invalid or has expired')
  expect((await page.goto(`${callback()}?code=x&state=made-up`))?.status()).toBe(400)
  // A new link has a new state.
  const next = await world.team.signIns.start({ tenant: 'acme', subject: 'ann' }, 'notes')
  expect(next.url).not.toBe(url)
})

test('a wrong code is asked for again, and a declined sign-in ends the call', async () => {
  const world = await open()
  const typo = await clientFor(world, 'acme.typo', 'typo', (shown, round) => (round === 0 ? '0000 0000' : shown))
  await world.team.signIns.start({ tenant: 'acme', subject: 'typo' }, 'notes')
  // The definitions are unknown yet, so the tool is called by the person who signs in first.
  const { signIns } = world.team
  const first = { tenant: 'acme', subject: 'first' }
  await signIns.confirm(first, 'notes', await consent((await signIns.start(first, 'notes')).url, 'first'))
  expect(await whoami(typo)).toBe('typo')
  expect(typo.asked.messages).toEqual([
    'Type the code that the page of notes shows after the sign-in',
    expect.stringContaining('That code is wrong'),
  ])
  const unwilling = await clientOf(
    world.url,
    { revision: '2026-07-28', handlers: { url: () => ({ action: 'decline' }), form: () => ({ action: 'cancel' }) } },
    token('acme.unwilling'),
  )
  expect(await unwilling.callTool('whoami', {})).toMatchObject({ isError: true })
})

test('a client of 2025-11-25 is asked by requests, and one without questions gets the link as text', async () => {
  const world = await open()
  const { signIns } = world.team
  const first = { tenant: 'acme', subject: 'first' }
  await signIns.confirm(first, 'notes', await consent((await signIns.start(first, 'notes')).url, 'first'))
  let shown: Promise<string> | undefined
  const legacy = await clientOf(
    world.url,
    {
      revision: '2025-11-25',
      handlers: {
        url: ({ url }) => {
          shown = consent(String(url), 'legacy-at-notes')
          return { action: 'accept' }
        },
        form: async () => {
          await expect.poll(() => shown).toBeDefined()
          return { action: 'accept', content: { code: await shown } }
        },
      },
    },
    token('acme.legacy'),
  )
  expect(await whoami(legacy)).toBe('legacy-at-notes')
  const mute = await clientOf(world.url, { revision: '2025-06-18' }, token('acme.mute'))
  const refused = await mute.callTool('whoami', {})
  expect(refused).toMatchObject({ isError: true })
  const [url = ''] = /http:\/\/\S+/.exec(String(textOf(refused))) ?? []
  await mute.callTool('sign_in', { code: await consent(url, 'mute-at-notes') })
  expect(await whoami(mute)).toBe('mute-at-notes')
})

test('tokens survive a restart, sealed, and the stored definitions are listed without a credential', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'store.db')
  const one = sqliteStore(file)
  const first = await open(one)
  const ann = { tenant: 'acme', subject: 'ann' }
  const { url } = await first.team.signIns.start(ann, 'notes')
  const code = await consent(url, 'ann-at-notes')
  await first.close()
  await one.close()

  // The code is typed after a restart.
  const two = sqliteStore(file)
  const second = await open(two)
  await second.team.signIns.confirm(ann, 'notes', code)
  const client = await clientFor(second, 'acme.ann', 'unused')
  expect(await whoami(client)).toBe('ann-at-notes')
  await second.close()
  await two.close()

  const three = sqliteStore(file)
  const third = await open(three)
  const stranger = await clientFor(third, 'acme.stranger', 'stranger')
  expect(await namesOf(stranger.tools())).toEqual(['whoami', 'write', 'sign_in'])
  const again = await clientFor(third, 'acme.ann', 'unused')
  expect(await whoami(again)).toBe('ann-at-notes')
  expect(again.asked.pages).toEqual([])
  await third.close()
  await three.close()

  const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'))
  expect(bytes.join('').length).toBeGreaterThan(1000)
  expect(issuer.tokens.size).toBeGreaterThan(2)
  for (const secretText of [...issuer.tokens, issuer.client.secret, code.replace(' ', '')])
    expect(bytes.some((text) => text.includes(secretText))).toBe(false)
})

test('a refused token is refreshed once, and a refresh that is refused asks again', async () => {
  const own = await startSignInIssuer([callback()])
  const server = await startResourceServer(own.url)
  onTestFinished(async () => {
    await server.close()
    own.close()
  })
  const world = await open(memoryStore(), own.client, server.url)
  const { signIns } = world.team
  const ann = { tenant: 'acme', subject: 'ann' }
  await signIns.confirm(ann, 'notes', await consent((await signIns.start(ann, 'notes')).url, 'ann'))
  const client = await clientFor(world, 'acme.ann', 'ann')
  expect(await whoami(client)).toBe('ann')
  server.refuseTokens()
  expect(await whoami(client)).toBe('ann')
  expect(client.asked.pages).toEqual([])
  expect(new Set(server.credentials).size).toBe(2)
  server.refuseTokens()
  own.endGrants(true)
  const refused = await client.callTool('whoami', {})
  expect(refused).toMatchObject({ isError: true })
  expect(textOf(refused)).toContain('You are not signed in to notes')
  own.endGrants(false)
  expect(await whoami(client)).toBe('ann')
  expect(client.asked.pages).toHaveLength(1)
})

test('a token near its end is refreshed before it is used, and calls at once refresh it once', async () => {
  const own = await startSignInIssuer([callback()], 20)
  const server = await startResourceServer(own.url)
  onTestFinished(async () => {
    await server.close()
    own.close()
  })
  const world = await open(memoryStore(), own.client, server.url)
  const { signIns } = world.team
  const ann = { tenant: 'acme', subject: 'ann' }
  await signIns.confirm(ann, 'notes', await consent((await signIns.start(ann, 'notes')).url, 'ann'))
  const client = await clientFor(world, 'acme.ann', 'ann')
  await whoami(client)
  const before = own.requests.filter((path) => path === '/token').length
  expect(await Promise.all([whoami(client), whoami(client), whoami(client)])).toEqual(['ann', 'ann', 'ann'])
  expect(own.requests.filter((path) => path === '/token').length).toBeGreaterThan(before)
  expect(client.asked.pages).toEqual([])
})

test('signing out forgets the tokens, revokes them, and the next call asks', async () => {
  const store = memoryStore()
  const world = await open(store)
  const { signIns } = world.team
  const ann = { tenant: 'acme', subject: 'ann' }
  const client = await clientFor(world, 'acme.ann', 'ann')
  await signIns.confirm(ann, 'notes', await consent((await signIns.start(ann, 'notes')).url, 'ann'))
  expect(await whoami(client)).toBe('ann')
  expect(await signIns.list(ann)).toEqual([
    {
      ...{ upstream: 'notes', state: 'signed in', issuer: issuer.url },
      scope: expect.any(String),
      expiresAt: expect.any(Number),
    },
  ])
  issuer.requests.length = 0
  await signIns.revoke(ann, 'notes')
  expect(issuer.requests).toContain('/token/revocation')
  expect(await signIns.list(ann)).toEqual([{ upstream: 'notes', state: 'signed out' }])
  expect((await store.list(['gateway'], { limit: 1000 })).filter(({ key }) => key.includes('tokens'))).toEqual([])
  expect(await whoami(client)).toBe('ann')
  expect(client.asked.pages).toHaveLength(1)
  await expect(signIns.revoke(ann, 'unknown')).rejects.toThrow('No running upstream')
})

test('an upstream that wants more scopes gets them with the next sign-in', async () => {
  const world = await open()
  const { signIns } = world.team
  const ann = { tenant: 'acme', subject: 'ann' }
  await signIns.confirm(ann, 'notes', await consent((await signIns.start(ann, 'notes')).url, 'ann'))
  const client = await clientFor(world, 'acme.ann', 'ann')
  expect(await whoami(client)).toBe('ann')
  const refused = await client.callTool('write', {})
  expect(refused).toMatchObject({ isError: true })
  expect(client.asked.pages).toEqual([])
  expect(await signIns.list(ann)).toMatchObject([{ state: 'signed in', wantsMore: true }])
  expect(textOf(await client.callTool('write', {}))).toBe('written')
  expect((await signIns.list(ann))[0]).not.toHaveProperty('wantsMore')
  expect(client.asked.pages).toHaveLength(1)
  expect(new URL(client.asked.pages[0] ?? '').searchParams.get('scope')).toContain('notes:write')
})

test('the sign-in comes before the approval, which it does not spend', async () => {
  const store = memoryStore()
  const approvals = createApprovals({ store })
  const world = await open(store, issuer.client, notes.url, { use: [approvals], rules: [{ approval: 'always' }] })
  const { signIns } = world.team
  const first = { tenant: 'acme', subject: 'first' }
  await signIns.confirm(first, 'notes', await consent((await signIns.start(first, 'notes')).url, 'first'))
  const client = await clientFor(world, 'acme.ann', 'ann')
  expect(textOf(await client.callTool('whoami', {}))).toContain('approval_required')
  expect(client.asked.pages).toHaveLength(1)
  const { tickets } = await approvals.list()
  expect(tickets).toHaveLength(1)
  // The code is not part of what is approved.
  expect(JSON.stringify(tickets)).not.toMatch(/sign-in-code|\d{4} \d{4}/)
  const [ticket] = tickets
  await approvals.decide(
    ticket?.id ?? '',
    { approved: true },
    { subject: 'boss', via: 'console', tenants: 'all', operator: true },
  )
  expect(await whoami(client)).toBe('ann')
  expect(client.asked.pages).toHaveLength(1)
})
