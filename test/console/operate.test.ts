/** The console's API for operating servers: trying tools, the way through the layers, history, clients and upstreams. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConsole } from '@sluice/console'
import { apiKeys, authenticate, memoryStore, tenants } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer } from 'sluice/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rawTool, rawUpstream } from '../gateway/raw-upstream.ts'
import type { BrowserSession, ConsoleFixture, ConsoleResponse } from '../kit/servers/console.fixture.ts'
import {
  linkToken,
  openConsoleFixture,
  send,
  shopDefinition,
  signIn,
  signInAsOwner,
} from '../kit/servers/console.fixture.ts'

let fixture: ConsoleFixture
let owner: BrowserSession
let keys: { readonly [subject: string]: string }
const secrets: { [subject: string]: string } = {}

beforeAll(async () => {
  fixture = await openConsoleFixture({
    clients: () => [
      { client: 'A', file: 'a.json', destination: 'a', text: '{"url":"http://x"}' },
      { client: 'B', file: 'b.json', destination: 'b', text: '{"command":"/home/op"}', isLocal: true },
    ],
  })
  owner = await signInAsOwner(fixture)
  secrets['agent'] = await fixture.createAgentKey()
  await fixture.createAgentKey('reader', ['acme'], [])
  await fixture.createAgentKey('gus', ['globex'])
  await fixture.createAgentKey('both', ['acme', 'globex'])
  keys = await keyIds(owner)
})
afterAll(() => fixture.close())

async function keyIds(who: BrowserSession): Promise<{ readonly [subject: string]: string }> {
  const { keys: all } = (await who.get('api/keys')).body as { keys: { id: string; subject: string }[] }
  return Object.fromEntries(all.map(({ id, subject }) => [subject, id]))
}

interface Try {
  readonly key?: string | undefined
  readonly tenant?: string
  readonly who?: BrowserSession
  readonly server?: string
}
const tryTool = (
  tool: string,
  args: object,
  { key = keys['agent'], tenant, who = owner, server = 'shop' }: Try = {},
): Promise<ConsoleResponse> =>
  who.post(`api/servers/${server}/tools/${tool}/try`, {
    arguments: JSON.stringify(args),
    ...(key !== undefined && { key }),
    ...(tenant !== undefined && { tenant }),
  })
const operator = async (scopes: readonly ('tools:call' | 'upstreams:manage')[], tenants: readonly string[] = []) =>
  signIn(fixture, { key: (await fixture.consoleApp.operators.create({ name: 'olga', scopes, tenants })).secret })

describe('trying a tool', () => {
  test('runs it as the key, through the layers, and the audit names the person and the key', async () => {
    const { status, body } = await tryTool('price', { article: 'lamp' })
    expect([status, body]).toMatchObject([200, { outcome: 'complete', failed: false, isWhole: true, endedBy: 'run' }])
    expect(JSON.parse(String(body['answer']))).toMatchObject({ structuredContent: { article: 'lamp', cents: 400 } })
    const names = (body['layers'] as { name: string }[]).map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['authenticate', 'tenants', 'rateLimit', 'approvals', 'run']))
    interface Page {
      readonly records: readonly { kind: string; fields: Record<string, string> }[]
    }
    const records = async (): Promise<Page['records']> =>
      ((await owner.get('api/audit?tenant=acme&text=price')).body as unknown as Page).records
    await expect.poll(async () => (await records()).map(({ kind }) => kind)).toEqual(['ended', 'started', 'tool tried'])
    const [ended, , tried] = await records()
    expect(tried?.fields).toMatchObject({ by: 'owner', key: keys['agent'], subject: 'agent', server: 'shop' })
    expect(ended?.fields).toMatchObject({ by: 'owner', caller: 'agent', credential: `key ${keys['agent']}` })
  })

  test('a gated tool makes a ticket of the key, and runs once after it was approved', async () => {
    const { body } = await tryTool('refund', { order: 'tried' })
    expect(body).toMatchObject({ outcome: 'approval_required', failed: false, endedBy: 'approvals' })
    const ticket = (await owner.get(`api/tickets/${body['ticket']}`)).body
    expect(ticket).toMatchObject({ caller: 'agent', tenant: 'acme', key: keys['agent'], status: 'pending' })
    await owner.post(`api/tickets/${body['ticket']}/decision`, { approved: true, digest: ticket['digest'] })
    expect((await tryTool('refund', { order: 'tried' })).body['answer']).toContain('refunded tried')
  })

  test('the scopes of the key apply, and the layer that refused is named', async () => {
    const { body } = await tryTool('refund', { order: 'no' }, { key: keys['reader'] })
    expect(body).toMatchObject({ failed: true, endedBy: 'authorize' })
    expect(body['message']).toContain('needs the scope refund:write')
    expect(body['answer']).not.toContain('refunded')
  })

  test('arguments are checked by the tool, and what is not an object is refused', async () => {
    expect((await tryTool('price', { article: 5 })).body).toMatchObject({ failed: true, outcome: 'invalidArguments' })
    const path = 'api/servers/shop/tools/price/try'
    for (const text of ['{', '[]', '5'])
      expect((await owner.post(path, { key: keys['agent'], arguments: text })).status).toBe(400)
  })

  test.each([
    ['a number that would be rounded', '{"order":"o","cents":9007199254740993}'],
    ['a member named twice', '{"order":"o","cents":1,"cents":100}'],
    ['__proto__', '{"order":"o","__proto__":{}}'],
    ['nesting without end', `{"order":"o","more":${'['.repeat(29_000)}${']'.repeat(29_000)}}`],
    ['two objects', '{"order":"o"},{"order":"p"}'],
  ])('arguments with %s are refused, as on every transport', async (_, text) => {
    const path = 'api/servers/shop/tools/refund/try'
    expect(await owner.post(path, { key: keys['agent'], arguments: text })).toMatchObject({
      status: 400,
      body: { reason: 'invalidParams', message: expect.stringContaining('"arguments"') },
    })
  })

  test('the limits of the key apply', async () => {
    const own = await openConsoleFixture({ limit: { burst: 2, perSecond: 0.001 } })
    await own.createAgentKey()
    const who = await signInAsOwner(own)
    const key = (await keyIds(who))['agent']
    const outcomes: unknown[] = []
    for (let at = 0; at < 3; at++)
      outcomes.push((await tryTool('price', { article: 'x' }, { who, key })).body['outcome'])
    expect(outcomes).toEqual(['complete', 'complete', 'rateLimited'])
    await own.close()
  })

  test('needs the scope, a key that the operator may see, and a tenant if the key has several', async () => {
    const reader = await operator([])
    expect((await tryTool('price', { article: 'a' }, { who: reader })).status).toBe(403)
    const limited = await operator(['tools:call'], ['acme'])
    expect((await tryTool('price', { article: 'a' }, { who: limited })).body['outcome']).toBe('complete')
    for (const name of ['gus', 'both'])
      expect((await tryTool('price', { article: 'a' }, { who: limited, key: keys[name] })).status).toBe(404)
    const both = { key: keys['both'] }
    expect((await tryTool('price', { article: 'a' }, both)).body['failed']).toBe(true)
    expect((await tryTool('price', { article: 'a' }, { ...both, tenant: 'globex' })).body['outcome']).toBe('complete')
    expect((await tryTool('price', { article: 'a' }, { ...both, tenant: 'other' })).status).toBe(400)
    expect((await tryTool('no such tool', {})).status).toBe(404)
    expect((await tryTool('price', {}, { server: 'no such server' })).status).toBe(404)
    expect((await owner.post('api/servers/shop/tools/price/try', { arguments: '{}' })).status).toBe(400)
  })

  test('the operator who tried it is not the other person who must approve it', async () => {
    const store = memoryStore()
    const audit = createAudit({ store })
    const approvals = createApprovals({ store, audit, approver: 'other' })
    const consoleApp = createConsole({ store, audit, approvals })
    const callers = apiKeys(store)
    const server = createServer(shopDefinition, {
      store,
      use: [audit, approvals, consoleApp.watch, authenticate(callers)],
    })
    const { url, close } = await consoleApp.listen({ port: 0 })
    const enter = async (name: string): Promise<BrowserSession> => {
      const scopes = ['tools:call', 'approvals:decide'] as const
      return signIn({ url }, { key: (await consoleApp.operators.create({ name, scopes })).secret })
    }
    const [olga, pia] = [await enter('olga'), await enter('pia')]
    const { key } = await callers.create({ subject: 'robot', scopes: ['refund:write'] })
    const { body } = await tryTool('refund', { order: 'four eyes' }, { who: olga, key: key.id })
    const path = `api/tickets/${String(body['ticket'])}`
    const { digest, mayDecide } = (await olga.get(path)).body
    expect(mayDecide).toBe(false)
    const decide = (who: BrowserSession) => who.post(`${path}/decision`, { approved: true, digest })
    expect(await decide(olga)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('another person') },
    })
    expect(await decide(pia)).toMatchObject({ status: 200, body: { status: 'approved' } })
    await close()
    await server.close()
  })

  test('a revoked key runs nothing', async () => {
    await fixture.createAgentKey('leaver')
    const key = (await keyIds(owner))['leaver']
    await owner.post(`api/keys/${key}/revoke`)
    expect((await tryTool('price', { article: 'a' }, { key })).status).toBe(409)
  })

  test('no client can claim to be the console', async () => {
    expect(JSON.stringify(await fixture.call('console', 'price', { article: 'a' }))).toContain('unauthorized')
  })
})

describe('the way through the layers', () => {
  const requests = async (client: string): Promise<readonly Record<string, unknown>[]> => {
    const { requests: all } = (await owner.get('api/live')).body as { requests: Record<string, unknown>[] }
    return all.filter((each) => each['client'] === client)
  }

  test('is measured only while a Live page is open, and has no arguments', async () => {
    const agent = secrets['agent'] ?? ''
    await fixture.call(agent, 'price', { article: 'unseen-argument' }, 'before')
    const stream = new AbortController()
    const opened = await fetch(`${fixture.url}api/events?live=1`, {
      headers: { cookie: owner.cookie },
      signal: stream.signal,
    })
    await opened.body?.getReader().read()
    await fixture.call(agent, 'price', { article: 'unseen-argument' }, 'during')
    await fixture.call(agent, 'refund', { order: 'seen' }, 'gated')
    stream.abort()
    const [before] = await requests('before')
    const [during] = await requests('during')
    const [gated] = await requests('gated')
    expect(before).not.toHaveProperty('layers')
    expect(during).toMatchObject({ endedBy: 'run' })
    expect(gated).toMatchObject({ endedBy: 'approvals' })
    expect(during?.['layers']).toContainEqual({ name: 'run', ms: expect.any(Number) })
    expect(JSON.stringify([during, gated])).not.toContain('unseen-argument')
    await expect
      .poll(async () => {
        await fixture.call(agent, 'price', { article: 'x' }, 'after')
        return (await requests('after')).at(-1)?.['layers']
      })
      .toBeUndefined()
  })
})

describe('the last day', () => {
  test('has the requests of all processes, and of an operator’s tenants only', async () => {
    const one = await openConsoleFixture()
    const two = await openConsoleFixture({ sharing: one })
    const who = await signInAsOwner(one)
    const ann = await one.createAgentKey('ann')
    const gus = await one.createAgentKey('gus', ['globex'])
    await one.call(ann, 'price', { article: 'a' })
    await two.call(ann, 'refund', { order: 'a' })
    await two.call(gus, 'break', {})
    // The other process writes when it is asked, or within a minute.
    await (await signInAsOwner(two)).get('api/history')
    interface Day {
      readonly minutes: readonly { calls: number; errors: number; waiting: number }[]
      readonly processes: number
    }
    const day = async (session: BrowserSession, query = ''): Promise<unknown> => {
      const { minutes, processes } = (await session.get(`api/history${query}`)).body as unknown as Day
      const sum = (field: 'calls' | 'errors' | 'waiting'): number =>
        minutes.reduce((total, minute) => total + minute[field], 0)
      return { calls: sum('calls'), errors: sum('errors'), waiting: sum('waiting'), processes }
    }
    expect(await day(who)).toEqual({ calls: 3, errors: 1, waiting: 1, processes: 2 })
    const { secret } = await one.consoleApp.operators.create({ name: 'olga', tenants: ['acme'] })
    const olga = await signIn(one, { key: secret })
    expect(await day(olga)).toEqual({ calls: 2, errors: 0, waiting: 1, processes: 2 })
    expect(await day(olga, '?tenant=globex')).toEqual({ calls: 0, errors: 0, waiting: 0, processes: 0 })
    await two.close()
    await one.close()
  })
})

describe('definitions and clients', () => {
  test('the size of a definition is its characters divided by four, summed for the server', async () => {
    interface Servers {
      readonly servers: readonly { tokens: number; tools: readonly { name: string; tokens: number }[] }[]
    }
    const { servers } = (await owner.get('api/servers')).body as unknown as Servers
    const [shop] = servers
    const price = shopDefinition.tools?.find(({ name }) => name === 'price')
    expect(shop?.tools.find(({ name }) => name === 'price')?.tokens).toBe(
      Math.ceil(JSON.stringify(price?.entry).length / 4),
    )
    expect(shop?.tokens).toBe(shop?.tools.reduce((sum, { tokens }) => sum + tokens, 0))
  })

  test('operators of some tenants do not see the lines with paths of this machine', async () => {
    const names = async (who: BrowserSession): Promise<unknown> =>
      ((await who.get('api/clients')).body['clients'] as { client: string }[]).map(({ client }) => client)
    expect(await names(owner)).toEqual(['A', 'B'])
    expect(await names(await operator([], ['acme']))).toEqual(['A'])
    expect((await owner.get('api/clients')).text).not.toContain('isLocal')
  })
})

describe('who may call what', () => {
  interface Access {
    readonly subject: string
    readonly tenant?: string
    readonly tools: readonly { name: string; outcome: string; reason?: string }[]
  }
  const access = async (who: BrowserSession, server = 'shop'): Promise<readonly Access[]> =>
    (await who.get(`api/access?server=${server}`)).body['keys'] as Access[]

  test('is the key with its tenant against each tool, with the reason for a no', async () => {
    const all = await access(owner)
    const of = (subject: string, tool: string): unknown =>
      all.find((each) => each.subject === subject)?.tools.find(({ name }) => name === tool)
    expect(of('agent', 'refund')).toEqual({ name: 'refund', outcome: 'needsApproval' })
    expect(of('agent', 'price')).toEqual({ name: 'price', outcome: 'runs' })
    expect(of('reader', 'refund')).toEqual({
      ...{ name: 'refund', outcome: 'refused', reason: 'Lacks the scope refund:write' },
    })
    expect(all.filter(({ subject }) => subject === 'both').map(({ tenant }) => tenant)).toEqual(['acme', 'globex'])
    expect(all.map(({ subject }) => subject)).not.toContain('leaver')
    expect((await owner.get('api/access?server=none')).status).toBe(404)
  })

  test('says what trying the tool does', async () => {
    for (const { subject, tenant, tools } of await access(owner)) {
      for (const { name, outcome } of tools) {
        const args = name === 'price' ? { article: 'a' } : { order: `access-${subject}` }
        const { body } = await tryTool(name, args, {
          key: keys[subject],
          ...(subject === 'both' && tenant !== undefined && { tenant }),
        })
        const expected = { runs: 'run', needsApproval: 'approvals', refused: 'authorize' }[outcome]
        expect([subject, name, body['endedBy']]).toEqual([subject, name, expected])
      }
    }
  })

  test('rules of the approvals, implied scopes and the tools of a tenant count', async () => {
    const store = memoryStore()
    const audit = createAudit({ store })
    const approvals = createApprovals({
      ...{ store, audit },
      rules: [
        { tool: 'price', caller: 'new', approval: 'always' },
        { tool: 'refund', approval: 'never' },
      ],
    })
    const apiKeyList = apiKeys(store)
    const consoleApp = createConsole({ store, audit, approvals })
    const server = createServer(shopDefinition, {
      store,
      use: [
        ...[audit, approvals, consoleApp.watch],
        authenticate({ verifiers: [apiKeyList], impliedScopes: { admin: ['refund:write'] } }),
        tenants({ claim: 'tenants', tools: (tenant) => (tenant === 'small' ? new Set(['price']) : 'all') }),
      ],
    })
    await apiKeyList.create({ subject: 'boss', tenants: ['acme'], scopes: ['admin'] })
    await apiKeyList.create({ subject: 'new', tenants: ['small'], scopes: ['admin'] })
    const { url, close } = await consoleApp.listen({ port: 0 })
    const all = await access(await signIn({ url }, { link: linkToken(await consoleApp.link()) }))
    const outcomes = Object.fromEntries(
      all.map(({ subject, tools }) => [subject, tools.map(({ outcome, reason }) => reason ?? outcome)]),
    )
    expect(outcomes).toEqual({
      boss: ['runs', 'runs', 'runs'],
      new: ['Tenant small does not have this tool', 'needsApproval', 'Tenant small does not have this tool'],
    })
    await close()
    await server.close()
  })

  test('rules for other tenants are hidden from a tenant’s operator', async () => {
    const own = await openConsoleFixture({
      rules: [
        { tool: 'refund', tenant: 'globex', caller: 'gus', approval: 'always', needed: 2, of: ['gina', 'greg'] },
        { tool: 'refund', tenant: ['globex', 'acme'], approval: 'always' },
        { approval: 'tool' },
      ],
    })
    const { secret } = await own.consoleApp.operators.create({ name: 'olga', tenants: ['acme'] })
    const rulesOf = async (who: BrowserSession): Promise<unknown> =>
      ((await who.get('api/servers')).body['servers'] as readonly { rules: unknown }[])[0]?.rules
    expect(await rulesOf(await signInAsOwner(own))).toMatchObject([{}, { text: expect.stringContaining('globex') }, {}])
    expect(await rulesOf(await signIn(own, { key: secret }))).toEqual([
      { place: 1, text: 'tool refund for tenant acme: needs an approval' },
      { place: 2, text: 'every tool: as the tool states' },
    ])
    await own.close()
  })

  test('rules of a gateway count, with the reason for a no', async () => {
    const raw = await rawUpstream({ tools: [rawTool('read'), rawTool('write')] })
    const team = gateway({
      ...{ name: 'team', version: '1' },
      upstreams: [
        upstream({
          ...{ name: 'files', url: raw.url, scope: 'shared' },
          rules: [
            { tools: 'write', callers: 'boss', allow: true, approval: 'always' },
            { tools: 'write', allow: false },
          ],
        }),
      ],
    })
    const own = await openConsoleFixture({ definition: team.endpoints['files'] ?? team, gateway: () => team })
    await own.server.ready()
    await own.createAgentKey('boss')
    await own.createAgentKey('guest')
    const admin = await signInAsOwner(own)
    const all = await access(admin, 'files')
    const outcomes = all.map(({ subject, tools }) => [subject, tools.map(({ outcome, reason }) => reason ?? outcome)])
    expect(Object.fromEntries(outcomes)).toMatchObject({
      boss: ['runs', 'needsApproval'],
      guest: ['runs', 'rules[1] refuses it'],
    })
    await own.close()
  })

  test('an operator of one tenant sees the keys of that tenant alone', async () => {
    const all = await access(await operator([], ['acme']))
    expect(new Set(all.map(({ tenant }) => tenant))).toEqual(new Set(['acme']))
    expect(all.map(({ subject }) => subject)).not.toContain('both')
  })
})

describe('upstreams', () => {
  const folder = mkdtempSync(join(tmpdir(), 'console-upstreams-'))
  const about = join(folder, 'about.txt')
  const secretLine = 'reads the secrets of all tenants'
  const program = join(import.meta.dirname, 'upstream.fixture.ts')
  const command = { command: process.execPath, args: [program], env: { ABOUT_FILE: about }, startMs: 60_000 }
  const team = gateway({
    ...{ name: 'team', version: '1', startMs: 60_000 },
    upstreams: [
      upstream({ ...command, name: 'notes', scope: 'shared' }),
      upstream({ ...command, name: 'desk', scope: 'tenant' }),
    ],
  })
  let own: ConsoleFixture
  let admin: BrowserSession
  beforeAll(async () => {
    writeFileSync(about, 'Saves a note')
    own = await openConsoleFixture({ definition: team, gateway: () => team })
    await own.server.ready()
    admin = await signInAsOwner(own)
  }, 120_000)
  afterAll(async () => {
    await own.close()
    rmSync(folder, { recursive: true })
  })
  interface State {
    readonly name: string
    readonly state: string
    readonly connections: readonly Record<string, unknown>[]
  }
  const states = async (who: BrowserSession): Promise<readonly State[]> =>
    (await who.get('api/upstreams')).body['upstreams'] as State[]
  const signInAs = async (scopes: readonly 'upstreams:manage'[], tenants: readonly string[]): Promise<BrowserSession> =>
    signIn(own, { key: (await own.consoleApp.operators.create({ name: 'olga', scopes, tenants })).secret })

  test('have their state, process and output; other tenants and shared output are hidden from a tenant’s operator', async () => {
    for (const tenant of ['acme', 'globex']) {
      const secret = await own.createAgentKey(tenant, [tenant])
      for (const name of ['notes_add_note', 'desk_add_note'])
        expect(JSON.stringify(await own.call(secret, name, { title: tenant }))).toContain('saved')
    }
    const [notes, desk] = await states(admin)
    expect(notes).toMatchObject({
      ...{ name: 'notes', state: 'ready', transport: 'stdio', era: 'modern', definitions: 'current', tools: 1 },
      ...{ inFlight: 0, restarts: 0, p50: expect.any(Number), p95: expect.any(Number) },
      connections: [
        {
          key: 'shared',
          pid: expect.any(Number),
          startedAt: expect.any(Number),
          stderr: expect.arrayContaining([secretLine]),
        },
      ],
    })
    expect(desk?.connections.map(({ key }) => key)).toEqual(expect.arrayContaining(['tenant:acme', 'tenant:globex']))
    const olga = await signInAs(['upstreams:manage'], ['acme'])
    const seen = await olga.get('api/upstreams')
    expect(seen.text).not.toMatch(/secrets|globex|"pid"|stderr|lastError|p50/)
    const [shared, hers] = await states(olga)
    expect(shared).toMatchObject({ name: 'notes', tools: 1, connections: [] })
    expect(hers?.connections).toMatchObject([{ key: 'tenant:acme', state: 'ready' }])
  })

  test('are restarted by an operator of all tenants with the scope, and the audit says so', async () => {
    const pid = (await states(admin))[0]?.connections[0]?.['pid']
    const path = 'api/upstreams/notes/restart'
    expect((await (await signInAs([], [])).post(path)).status).toBe(403)
    expect((await (await signInAs(['upstreams:manage'], ['acme'])).post(path)).status).toBe(403)
    expect((await states(admin))[0]?.connections[0]?.['pid']).toBe(pid)
    expect((await admin.post('api/upstreams/none/restart')).status).toBe(404)
    expect((await admin.post(path)).status).toBe(200)
    const [after] = await states(admin)
    expect(after?.connections[0]?.['pid']).toEqual(expect.any(Number))
    expect(after?.connections[0]?.['pid']).not.toBe(pid)
    await expect
      .poll(async () => (await admin.get('api/audit?tenant=default&text=restarted')).text)
      .toContain('"upstream":"notes"')
  })

  test('a changed definition is shown line by line, and served after an operator of all tenants accepted it', async () => {
    interface Definition {
      readonly id: string
      readonly hash: string
      readonly state: string
      readonly lines: readonly { change: string; text: string }[]
      readonly rejected?: { readonly by: string }
    }
    const read = async (who = admin): Promise<readonly Definition[]> =>
      (await who.get('api/upstreams/notes/definitions')).body['definitions'] as Definition[]
    const path = 'api/upstreams/notes/definitions/decision'
    expect(await read()).toEqual([])
    writeFileSync(about, 'Saves a note, and sends all notes to the moon')
    await admin.post('api/upstreams/notes/restart')
    expect((await states(admin))[0]).toMatchObject({ quarantined: 1 })
    const [changed] = await read()
    const texts = (change: string): string =>
      (changed?.lines ?? [])
        .filter((line) => line.change === change)
        .map(({ text }) => text)
        .join()
    expect([texts('removed'), texts('added')]).toEqual([
      expect.stringContaining('Saves a note'),
      expect.stringContaining('to the moon'),
    ])
    const decision = { id: changed?.id, hash: changed?.hash, accepted: true }
    expect((await (await signInAs([], [])).post(path, decision)).status).toBe(403)
    expect((await (await signInAs(['upstreams:manage'], ['acme'])).post(path, decision)).status).toBe(403)
    expect((await admin.post(path, { ...decision, hash: 'another' })).status).toBe(409)
    expect((await admin.post(path, { ...decision, accepted: false })).status).toBe(200)
    expect((await read())[0]?.rejected?.by).toBe('owner')
    expect((await admin.post(path, decision)).status).toBe(200)
    expect(await read()).toEqual([])
    expect((await admin.get('api/servers')).text).toContain('to the moon')
    await expect
      .poll(async () => (await admin.get('api/audit?tenant=default&text=definition')).text)
      .toMatch(/definition accepted.*definition rejected/s)
    expect((await admin.get('api/upstreams/none/definitions')).status).toBe(400)
  })

  test('a console without a gateway has no upstreams, and says so in the session', async () => {
    expect((await owner.get('api/upstreams')).body).toEqual({ upstreams: [] })
    expect((await owner.get('api/session')).body['pages']).toEqual(['clients'])
    expect((await admin.get('api/session')).body['pages']).toEqual(['upstreams'])
    expect((await send(own.url, 'api/upstreams')).status).toBe(401)
  })
})
