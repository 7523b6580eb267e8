/** Sign-in to upstreams by the console's API: each operator reaches only the account of their own calls. */

import type { OperatorScope } from '@sluice/console'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { BrowserSession, ConsoleResponse } from '../kit/servers/console.fixture.ts'
import { send, signIn, signInAsOwner } from '../kit/servers/console.fixture.ts'
import { consentByHttp } from '../kit/servers/sign-in-issuer.ts'
import type { GatewayConsole, NotesService } from './gateway-console.ts'
import { codeIn, openGatewayConsole, startNotes } from './gateway-console.ts'

let notes: NotesService
beforeAll(async () => {
  notes = await startNotes()
}, 120_000)
afterAll(() => notes?.close())

const open = (): Promise<GatewayConsole> => openGatewayConsole(notes.upstream(), notes.port)

async function operator(
  { consoleApp, ...fixture }: GatewayConsole,
  name: string,
  tenants: readonly string[],
  scopes: readonly OperatorScope[] = [],
): Promise<BrowserSession> {
  const { secret } = await consoleApp.operators.create({ name, tenants, scopes })
  return signIn(fixture, { key: secret })
}
const start = (who: BrowserSession, tenant: string): Promise<ConsoleResponse> =>
  who.post('api/upstreams/notes/sign-in', { tenant })
const confirm = (who: BrowserSession, tenant: string, code: string): Promise<ConsoleResponse> =>
  who.post('api/upstreams/notes/sign-in/code', { tenant, code })
const end = (who: BrowserSession, tenant: string): Promise<ConsoleResponse> =>
  who.post('api/upstreams/notes/sign-out', { tenant })

/** Consents as `account` at the page that an operator started, and returns its code. */
async function consent(who: BrowserSession, tenant: string, account: string): Promise<string> {
  const { body } = await start(who, tenant)
  return codeIn(await consentByHttp(String(body['url']), account))
}
async function connect(who: BrowserSession, tenant: string, account: string): Promise<void> {
  expect(await confirm(who, tenant, await consent(who, tenant, account))).toMatchObject({ status: 200 })
}
async function signInOf(who: BrowserSession): Promise<unknown> {
  const { upstreams } = (await who.get('api/upstreams')).body as { upstreams: { signIn?: unknown }[] }
  return upstreams[0]?.signIn
}
const whoami = async (fixture: GatewayConsole, secret: string): Promise<unknown> => {
  const { result } = (await fixture.call(secret, 'whoami', {})) as { result?: { content: { text: string }[] } }
  return result?.content[0]?.text
}

test('an operator signs in with the code, their own calls use the account, and signing out ends it', async () => {
  const fixture = await open()
  const ann = await operator(fixture, 'ann', ['acme'])
  const agent = await fixture.createAgentKey('ann', ['acme'])
  expect(await signInOf(ann)).toEqual({ caller: 'ann', accounts: [{ tenant: 'acme', state: 'signed out' }] })
  const code = await consent(ann, 'acme', 'ann-at-notes')
  expect(await signInOf(ann)).toMatchObject({ accounts: [{ state: 'waiting' }] })
  const wrong = await confirm(ann, 'acme', code.startsWith('0') ? '11111111' : '00000000')
  expect([wrong.status, wrong.body['message']]).toEqual([400, expect.stringContaining('That code is wrong')])
  expect(await confirm(ann, 'acme', code)).toMatchObject({ status: 200 })
  expect(await signInOf(ann)).toMatchObject({
    accounts: [{ tenant: 'acme', state: 'signed in', issuer: notes.issuer.url }],
  })
  await expect.poll(() => whoami(fixture, agent)).toBe('ann-at-notes')
  expect(await end(ann, 'acme')).toMatchObject({ status: 200 })
  expect(notes.issuer.requests.some((path) => path.startsWith('/token/revocation'))).toBe(true)
  expect(await signInOf(ann)).toMatchObject({ accounts: [{ state: 'signed out' }] })
  expect(await whoami(fixture, agent)).not.toBe('ann-at-notes')
})

test('the audit has each step, with the caller and the credential of the session', async () => {
  const fixture = await open()
  const ann = await operator(fixture, 'ann', ['acme'])
  const code = await consent(ann, 'acme', 'ann')
  await confirm(ann, 'acme', '1')
  await confirm(ann, 'acme', code)
  await end(ann, 'acme')
  interface Records {
    readonly records: readonly { kind: string; fields: Record<string, string> }[]
  }
  const records = async (): Promise<Records['records']> =>
    ((await ann.get('api/audit?tenant=acme')).body as unknown as Records).records
  await expect
    .poll(async () => (await records()).map(({ kind }) => kind).reverse())
    .toEqual(['upstream sign-in started', 'upstream code refused', 'upstream signed in', 'upstream signed out'])
  for (const { fields } of await records())
    expect(fields).toMatchObject({
      ...{ upstream: 'notes', caller: 'ann', via: 'console' },
      credential: expect.stringMatching(/^operator key \w+$/),
    })
  expect(JSON.stringify(await records())).not.toContain(code.replace(' ', ''))
})

test('no operator reaches the sign-in of another', async () => {
  const fixture = await open()
  const ann = await operator(fixture, 'ann', ['acme'])
  const bob = await operator(fixture, 'bob', ['acme'], ['approvals:decide', 'upstreams:manage', 'tools:call'])
  const code = await consent(ann, 'acme', 'ann-at-notes')
  // The code of another person connects nothing, and costs that person no try.
  for (let tries = 0; tries < 6; tries++)
    expect((await confirm(bob, 'acme', code)).body['message']).toContain('No sign-in to notes waits')
  for (const member of ['caller', 'subject', 'person'])
    expect((await bob.post('api/upstreams/notes/sign-in', { tenant: 'acme', [member]: 'ann' })).status).toBe(400)
  expect(await confirm(ann, 'acme', code)).toMatchObject({ status: 200 })
  expect(await signInOf(bob)).toEqual({ caller: 'bob', accounts: [{ tenant: 'acme', state: 'signed out' }] })
  expect(await end(bob, 'acme')).toMatchObject({ status: 200 })
  expect(await signInOf(ann)).toMatchObject({ accounts: [{ state: 'signed in' }] })
})

test('the same name in another tenant is another person', async () => {
  const fixture = await open()
  const [acme, globex] = [await operator(fixture, 'ann', ['acme']), await operator(fixture, 'ann', ['globex'])]
  await connect(acme, 'acme', 'ann-of-acme')
  expect(await signInOf(globex)).toEqual({ caller: 'ann', accounts: [{ tenant: 'globex', state: 'signed out' }] })
  for (const refused of [await start(globex, 'acme'), await confirm(globex, 'acme', '1'), await end(globex, 'acme')])
    expect([refused.status, refused.body['message']]).toEqual([403, 'You have no calls in this tenant.'])
  await end(globex, 'globex')
  const agent = await fixture.createAgentKey('ann', ['globex'])
  expect(await whoami(fixture, agent)).not.toBe('ann-of-acme')
  expect(await signInOf(acme)).toMatchObject({ accounts: [{ state: 'signed in' }] })
})

test('an operator whose calls are not certain gets the reason, and no sign-in', async () => {
  const fixture = await open()
  const all = await operator(fixture, 'ann', [], ['upstreams:manage'])
  const reason = expect.stringContaining('does not know in which one you call')
  expect(await signInOf(all)).toEqual({ caller: 'ann', accounts: [], reason })
  for (const tenant of ['default', 'acme'])
    expect(await start(all, tenant)).toMatchObject({ status: 403, body: { message: reason } })
})

test('the person of the link signs in for the tenant of the owner', async () => {
  const fixture = await open()
  const owner = await signInAsOwner(fixture)
  await connect(owner, 'default', 'ann-at-home')
  expect(await whoami(fixture, await fixture.createAgentKey('ann', ['default']))).toBe('ann-at-home')
  expect(await whoami(fixture, await fixture.createAgentKey('ann', ['acme']))).not.toBe('ann-at-home')
})

test('another page, an unknown upstream and a withdrawn key start nothing', async () => {
  const fixture = await open()
  const { secret, key } = await fixture.consoleApp.operators.create({ name: 'ann', tenants: ['acme'] })
  const ann = await signIn(fixture, { key: secret })
  const path = 'api/upstreams/notes/sign-in'
  const body = { tenant: 'acme' }
  const { 'x-csrf-token': _, ...withoutToken } = ann.headers
  expect((await send(fixture.url, path, { method: 'POST', headers: withoutToken, body })).status).toBe(403)
  const elsewhere = { ...ann.headers, 'sec-fetch-site': 'same-site' }
  expect((await send(fixture.url, path, { method: 'POST', headers: elsewhere, body })).status).toBe(403)
  expect((await ann.post('api/upstreams/other/sign-in', body)).status).toBe(404)
  await fixture.consoleApp.operators.revoke(key.id)
  expect((await start(ann, 'acme')).status).toBe(401)
})
