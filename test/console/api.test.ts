/** The console's API: its answers, its access rules, and that it answers as documented. */

import { readFileSync } from 'node:fs'
import { routes, schemas } from '@sluice/console'
import { defineServer, tool } from 'sluice'
import { jsonSchema } from 'sluice/json-schema'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { BrowserSession, ConsoleFixture } from '../kit/servers/console.fixture.ts'
import { openConsoleFixture, send, signIn, signInAsOwner, stuckDefinition } from '../kit/servers/console.fixture.ts'

let fixture: ConsoleFixture
let owner: BrowserSession
let agent: string
beforeAll(async () => {
  fixture = await openConsoleFixture()
  owner = await signInAsOwner(fixture)
  agent = await fixture.createAgentKey()
})
afterAll(() => fixture.close())

const pendingOf = async (who: BrowserSession = owner): Promise<Record<string, unknown>[]> =>
  (await who.get('api/tickets?status=pending')).body['tickets'] as Record<string, unknown>[]

/** Requests a refund and returns its ticket. */
async function asked(order: string, secret: string = agent): Promise<Record<string, unknown>> {
  await fixture.call(secret, 'refund', { order })
  const found = (await pendingOf()).find((ticket) => String(ticket['excerpt']).includes(`"${order}"`))
  if (!found) throw new Error('No ticket')
  return (await owner.get(`api/tickets/${found['id']}`)).body
}
const decision = (
  ticket: Record<string, unknown>,
  approved: boolean,
  more: object = {},
): Promise<Awaited<ReturnType<BrowserSession['post']>>> =>
  owner.post(`api/tickets/${ticket['id']}/decision`, { approved, digest: ticket['digest'], ...more })

test('Live shows the tasks that run, with their progress, to operators of their tenant', async () => {
  const ended = Promise.withResolvers<string>()
  const slow = tool({
    ...{ name: 'import', description: 'Takes long', task: 'always' },
    run(_input, { progress }) {
      progress(3, 10, '3 lines imported')
      return ended.promise
    },
  })
  const working = await openConsoleFixture({ definition: defineServer({ name: 'shop', version: '1', tools: [slow] }) })
  onTestFinished(() => working.close())
  const visitor = await signInAsOwner(working)
  await working.callAsTask(await working.createAgentKey('agent', ['acme']), 'import', {})
  const running = async (query = ''): Promise<unknown> => (await visitor.get(`api/live${query}`)).body['running']
  const task = { server: 'shop', tool: 'import', tenant: 'acme', caller: 'agent', message: '3 lines imported' }
  expect(await running()).toEqual([{ ...task, id: expect.any(String), startedAt: expect.any(Number) }])
  expect(await running('?tenant=other')).toEqual([])
  expect(await running('?tool=other')).toEqual([])
  ended.resolve('done')
  await expect.poll(() => running()).toEqual([])
})

describe('a ticket', () => {
  test('says that a task waits for it', async () => {
    const created = await fixture.callAsTask(agent, 'refund', { order: 'T-1' })
    const { taskId } = created['result'] as { taskId: string }
    expect(taskId).toEqual(expect.any(String))
    const found = (await pendingOf()).find((ticket) => String(ticket['excerpt']).includes('"T-1"'))
    const { body } = await owner.get(`api/tickets/${found?.['id']}`)
    expect(body).toMatchObject({ status: 'pending', task: taskId })
    await decision(body, false)
  })

  test('shows the caller and the complete request, and runs once it is approved', async () => {
    const ticket = await asked('A-1')
    expect(ticket).toMatchObject({
      server: 'shop',
      tenant: 'acme',
      caller: 'agent',
      tool: 'refund',
      description: 'Pays money back to a customer',
      hints: ['destructive'],
      arguments: '{"order":"A-1"}',
      status: 'pending',
      mayDecide: true,
    })
    expect((await decision(ticket, true, { note: 'fine' })).body).toMatchObject({
      status: 'approved',
      decisions: [{ by: 'owner', via: 'console', approved: true, note: 'fine' }],
    })
    expect(await fixture.call(agent, 'refund', { order: 'A-1' })).toMatchObject({
      result: { content: [{ text: 'refunded A-1' }] },
    })
    expect((await owner.get(`api/tickets/${ticket['id']}`)).body).toMatchObject({ status: 'done' })
  })

  test('does not run once it is denied', async () => {
    const ticket = await asked('A-2')
    expect((await decision(ticket, false)).body).toMatchObject({ status: 'denied' })
    const answer = JSON.stringify(await fixture.call(agent, 'refund', { order: 'A-2' }))
    expect(answer).not.toContain('refunded')
  })

  test('is not approved for other arguments than were shown', async () => {
    const ticket = await asked('A-3')
    const reply = await owner.post(`api/tickets/${ticket['id']}/decision`, { approved: true, digest: 'another' })
    expect(reply).toMatchObject({ status: 409, body: { reason: 'conflict' } })
    expect((await owner.get(`api/tickets/${ticket['id']}`)).body).toMatchObject({ status: 'pending' })
  })

  test('is decided once', async () => {
    const ticket = await asked('A-4')
    expect((await decision(ticket, false)).status).toBe(200)
    expect((await decision(ticket, true)).status).toBe(409)
  })

  test('cannot be decided after it has expired', async () => {
    const ticket = await asked('A-5')
    fixture.clock.advance(10 * 60_000 + 1)
    expect((await decision(ticket, true)).status).toBe(409)
    expect((await owner.get(`api/tickets/${ticket['id']}`)).body).toMatchObject({
      status: 'expired',
      mayDecide: false,
    })
  })

  test('can be taken back by the person who approved it, until it has run', async () => {
    const ticket = await asked('back-1')
    const back = `api/tickets/${ticket['id']}/take-back`
    expect((await owner.post(back)).status).toBe(409)
    const { body: approved } = await decision(ticket, true)
    expect(approved).toMatchObject({ status: 'approved', mayTakeBack: true, runUntil: expect.any(Number) })
    const { secret } = await fixture.consoleApp.operators.create({ name: 'omar', scopes: ['approvals:decide'] })
    const other = await signIn(fixture, { key: secret })
    expect((await other.get(`api/tickets/${ticket['id']}`)).body['mayTakeBack']).toBe(false)
    expect((await other.post(back)).status).toBe(409)
    expect((await owner.post(back)).body).toMatchObject({ status: 'denied', mayTakeBack: false })
    expect(JSON.stringify(await fixture.call(agent, 'refund', { order: 'back-1' }))).not.toContain('refunded')
    const run = await asked('back-2')
    await decision(run, true)
    await fixture.call(agent, 'refund', { order: 'back-2' })
    expect((await owner.post(`api/tickets/${run['id']}/take-back`)).status).toBe(409)
    expect((await owner.get(`api/tickets/${run['id']}`)).body['status']).toBe('done')
    expect((await owner.get('api/audit?tenant=acme&text=takenBack')).text).toContain(String(ticket['id']))
  })

  test('has a context: what its caller did before, and what came of it', async () => {
    const secret = await fixture.createAgentKey('contextual')
    await fixture.call(secret, 'price', { article: 'lamp' })
    await fixture.call(secret, 'break', {})
    const ticket = await asked('context-1', secret)
    const at = `api/tickets/${ticket['id']}/context`
    const targets = async (): Promise<unknown> =>
      ((await owner.get(at)).body['calls'] as { target: string; outcome: string }[]).map(({ target, outcome }) => [
        target,
        outcome,
      ])
    await expect.poll(targets).toEqual([
      ['refund', 'approval_required'],
      ['break', 'toolFailed'],
      ['price', 'complete'],
    ])
    expect((await owner.get(at)).body['result']).toBeUndefined()
    await decision(ticket, true)
    await fixture.call(secret, 'refund', { order: 'context-1' })
    expect((await owner.get(at)).body['result']).toMatchObject({
      text: 'refunded context-1',
      isError: false,
      isWhole: true,
      durationMs: expect.any(Number),
    })
    fixture.clock.advance(10 * 60_000)
    expect((await owner.get(at)).body['calls']).toEqual([])
  })

  test('is found by its caller and by text in its arguments', async () => {
    const secret = await fixture.createAgentKey('sought')
    const [first] = [await asked('Needle-1', secret), await asked('straw-1', secret), await asked('straw-2')]
    const found = async (query: string): Promise<unknown> =>
      ((await owner.get(`api/tickets?status=pending&${query}`)).body['tickets'] as { id: string }[]).map(({ id }) => id)
    expect(await found('text=nEEdle')).toEqual([first?.['id']])
    expect(await found('caller=sought')).toHaveLength(2)
    expect(await found('caller=sought&server=other')).toEqual([])
    expect(first).toMatchObject({ key: expect.stringMatching(/^\w+$/) })
  })

  test('is compared with the last approved call of the same tool', async () => {
    const first = await asked('A-6')
    await decision(first, true)
    const second = await asked('A-7')
    expect(second['previous']).toMatchObject({ id: first['id'], arguments: '{"order":"A-6"}' })
  })

  test('cannot be decided by an operator who may only read', async () => {
    const ticket = await asked('A-8')
    const { secret } = await fixture.consoleApp.operators.create({ name: 'viewer' })
    const viewer = await signIn(fixture, { key: secret })
    const [seen] = (await pendingOf(viewer)).filter(({ id }) => id === ticket['id'])
    expect(seen).toMatchObject({ mayDecide: false })
    const body = { approved: true, digest: ticket['digest'] }
    expect((await viewer.post(`api/tickets/${ticket['id']}/decision`, body)).status).toBe(403)
    expect((await owner.get(`api/tickets/${ticket['id']}`)).body).toMatchObject({ status: 'pending' })
  })

  test("is decided by the person it works for, whatever that person's other rights", async () => {
    const { secret } = await fixture.consoleApp.operators.create({ name: 'agent' })
    const person = await signIn(fixture, { key: secret })
    const [own, foreign] = [await asked('own-1'), await asked('own-2', await fixture.createAgentKey('somebody'))]
    for (const [ticket, status] of [
      [own, 200],
      [foreign, 403],
    ] as const) {
      const { body } = await person.get(`api/tickets/${ticket['id']}`)
      expect(body['mayDecide']).toBe(status === 200)
      const sent = { approved: true, digest: ticket['digest'] }
      expect((await person.post(`api/tickets/${ticket['id']}/decision`, sent)).status).toBe(status)
    }
  })

  test('that started and never ended is in doubt, until a person resolves it', async () => {
    const own = await openConsoleFixture({ definition: stuckDefinition })
    const person = await signInAsOwner(own)
    const caller = await own.createAgentKey()
    await own.call(caller, 'refund', { order: 'X' })
    const [ticket] = (await own.approvals.list()).tickets
    const at = `api/tickets/${ticket?.id}`
    expect((await person.post(`${at}/resolution`, { verdict: 'ran' })).status).toBe(409)
    await person.post(`${at}/decision`, { approved: true, digest: ticket?.digest })
    own.call(caller, 'refund', { order: 'X' }).catch(expect.unreachable)
    await expect.poll(async () => (await person.get(at)).body['status'], { timeout: 20_000 }).toBe('running')
    own.endLease()
    expect((await person.get(at)).body['status']).toBe('in doubt')
    expect((await person.post(`${at}/resolution`, { verdict: 'ran' })).status).toBe(200)
    expect((await person.get(at)).body['status']).not.toBe('in doubt')
    expect((await person.get('api/audit?tenant=acme&text=resolved')).text).toContain('owner')
    await own.close()
  })

  test('comes one page at a time, and every ticket comes once', async () => {
    for (let at = 0; at < 7; at++) await asked(`page-${at}`, await fixture.createAgentKey(`someone-${at}`))
    const seen: string[] = []
    for (let after = ''; ; ) {
      const page = (await owner.get(`api/tickets?status=pending&limit=3${after}`)).body
      seen.push(...(page['tickets'] as { id: string }[]).map(({ id }) => id))
      if (page['next'] === undefined) break
      after = `&after=${encodeURIComponent(String(page['next']))}`
    }
    expect(new Set(seen).size).toBe(seen.length)
    // Counted at most once a second.
    fixture.clock.advance(1000)
    expect(seen).toHaveLength(Number((await owner.get('api/tickets')).body['pending']))
  })
})

describe('an operator of one tenant', () => {
  test('sees and decides nothing of another', async () => {
    const other = await fixture.createAgentKey('spy', ['other'])
    const foreign = await asked('theirs', other)
    await fixture.call(other, 'price', { article: 'secret-article' })
    await owner.post(`api/tickets/${foreign['id']}/grant`, { arguments: 'exactly', lastMs: 60_000 })
    const { secret } = await fixture.consoleApp.operators.create({
      name: 'olga',
      scopes: ['approvals:decide', 'keys:manage'],
      tenants: ['acme'],
    })
    const olga = await signIn(fixture, { key: secret })
    const foreignKey = ((await owner.get('api/keys')).body['keys'] as { id: string; tenants: string[] }[]).find(
      ({ tenants }) => tenants.includes('other'),
    )
    for (const path of ['api/tickets', 'api/grants', 'api/live', 'api/tenants', 'api/keys', 'api/servers']) {
      const { status, text } = await olga.get(path)
      expect(status).toBe(200)
      expect(text).not.toMatch(/"other"|spy|theirs/)
    }
    expect((await olga.get(`api/tickets/${foreign['id']}`)).status).toBe(404)
    const body = { approved: true, digest: foreign['digest'] }
    expect((await olga.post(`api/tickets/${foreign['id']}/decision`, body)).status).toBe(404)
    expect((await olga.post(`api/keys/${foreignKey?.id}/revoke`)).status).toBe(404)
    expect((await olga.get('api/audit?tenant=other')).status).toBe(403)
    expect((await olga.get('api/audit/export?tenant=other')).status).toBe(403)
    expect((await olga.post('api/audit/verify', { tenant: 'other' })).status).toBe(403)
    expect((await olga.get('api/audit?tenant=acme')).status).toBe(200)
  })
})

describe('a grant', () => {
  test('is made from a ticket, scoped and limited in time, is listed, lets that call run, and ends when it is revoked', async () => {
    const secret = await fixture.createAgentKey('granted')
    const ticket = await asked('G-1', secret)
    const at = `api/tickets/${ticket['id']}/grant`
    expect((await owner.post(at, { arguments: 'any', lastMs: 10 * 86_400_000 })).status).toBe(400)
    const made = await owner.post(at, { arguments: 'exactly', lastMs: 60_000, note: 'for today' })
    expect(made.body).toMatchObject({ caller: 'granted', tool: 'refund', by: 'owner', note: 'for today' })
    expect(JSON.stringify(await fixture.call(secret, 'refund', { order: 'G-1' }))).toContain('refunded G-1')
    expect(JSON.stringify(await fixture.call(secret, 'refund', { order: 'G-2' }))).not.toContain('refunded')
    const { body } = await owner.get('api/grants')
    expect(body).toMatchObject({ longestMs: 86_400_000 })
    expect(body['grants']).toContainEqual(expect.objectContaining({ id: made.body['id'] }))
    const { secret: key } = await fixture.consoleApp.operators.create({ name: 'viewer' })
    const viewer = await signIn(fixture, { key })
    expect((await viewer.post(at, { arguments: 'exactly', lastMs: 60_000 })).status).toBe(403)
    const revoke = `api/grants/${encodeURIComponent(String(made.body['id']))}/revoke`
    expect((await viewer.post(revoke)).status).toBe(403)
    expect((await owner.post(revoke)).status).toBe(200)
    expect((await owner.get('api/grants')).text).not.toContain(String(made.body['id']))
    expect(JSON.stringify(await fixture.call(secret, 'refund', { order: 'G-1', cents: 5 }))).not.toContain('refunded')
  })
})

describe('keys', () => {
  test('are listed without their secrets, and refused once they are revoked', async () => {
    const secret = await fixture.createAgentKey('leaver')
    await fixture.call(secret, 'price', { article: 'x' })
    const { text, body } = await owner.get('api/keys')
    expect(text).not.toContain(secret)
    const key = (body['keys'] as { id: string; subject: string }[]).find(({ subject }) => subject === 'leaver')
    expect(key).toMatchObject({ prefix: secret.slice(0, 11), label: 'laptop', lastUse: expect.any(Number) })
    expect((await owner.post(`api/keys/${key?.id}/revoke`)).status).toBe(200)
    fixture.clock.advance(5_001)
    expect(await fixture.call(secret, 'price', { article: 'x' })).toMatchObject({ error: { code: 40100 } })
    expect((await owner.get('api/audit?tenant=acme&text=key%20revoked')).text).toContain('owner')
  })
})

describe('the audit', () => {
  test('is searched newest first, exported completely, and verified', async () => {
    const fresh = await openConsoleFixture()
    const own = await signInAsOwner(fresh)
    const secret = await fresh.createAgentKey('ann')
    for (let at = 0; at < 120; at++) await fresh.call(secret, 'price', { article: `a${at}` })
    await fresh.call(secret, 'break', {})
    await expect
      .poll(async () => ((await own.post('api/audit/verify', { tenant: 'acme' })).body['records'] as number) ?? 0, {
        timeout: 20_000,
      })
      .toBe(242)
    const first = (await own.get('api/audit?tenant=acme')).body as { records: { seq: number }[]; before: string }
    expect(first.records.map(({ seq }) => seq)).toEqual(Array.from({ length: 50 }, (_, at) => 242 - at))
    const next = (await own.get(`api/audit?tenant=acme&before=${encodeURIComponent(first.before)}`))
      .body as typeof first
    expect(next.records[0]?.seq).toBe(192)
    const found = (await own.get('api/audit?tenant=acme&text=toolFailed')).body as typeof first
    expect(found.records).toMatchObject([{ kind: 'ended', fields: { target: 'break', caller: 'ann' } }])
    const taken = await own.get('api/audit/export?tenant=acme')
    expect(taken.headers).toMatchObject({ 'content-disposition': 'attachment; filename="audit-acme.ndjson"' })
    const lines = taken.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ seq }) => seq)).toEqual(Array.from({ length: 242 }, (_, at) => at + 1))
    const [row] = await fresh.store.list(['audit', 'rows', 'acme'], { limit: 1 })
    if (row) await fresh.store.set(row.key, row.value.replace('ann', 'bob'))
    expect((await own.post('api/audit/verify', { tenant: 'acme' })).body).toMatchObject({
      intact: false,
      seq: 1,
      problem: 'altered',
    })
    await fresh.close()
  })
})

describe('the audit of all tenants', () => {
  test('is merged by time, in pages, and has each record once', async () => {
    const fresh = await openConsoleFixture()
    const own = await signInAsOwner(fresh)
    const secrets = [await fresh.createAgentKey('ann', ['acme']), await fresh.createAgentKey('gus', ['globex'])]
    for (let at = 0; at < 60; at++) {
      fresh.clock.advance(1)
      await fresh.call(secrets[at % 3 === 0 ? 1 : 0] ?? '', 'price', { article: `a${at}` })
    }
    interface Page {
      readonly records: readonly { tenant: string; seq: number; at: number }[]
      readonly before?: string
    }
    const all = async (): Promise<Page['records']> => {
      const records: Page['records'][number][] = []
      for (let before = ''; ; ) {
        const page = (await own.get(`api/audit?${before}`)).body as unknown as Page
        records.push(...page.records)
        if (page.before === undefined) return records
        before = `before=${encodeURIComponent(page.before)}`
      }
    }
    await expect.poll(async () => (await all()).length, { timeout: 20_000 }).toBe(120)
    const records = await all()
    expect(new Set(records.map(({ tenant, seq }) => `${tenant} ${seq}`)).size).toBe(120)
    expect(records.map(({ at }) => at)).toEqual(records.map(({ at }) => at).sort((one, other) => other - one))
    const { secret } = await fresh.consoleApp.operators.create({ name: 'olga', tenants: ['acme'] })
    const olga = await signIn(fresh, { key: secret })
    expect((await olga.get('api/audit')).text).not.toContain('globex')
    expect((await olga.get(`api/audit?before=${encodeURIComponent('{"globex":9}')}`)).text).not.toContain('globex')
    await fresh.close()
  })
})

describe('an operator key', () => {
  test('is all that another tool needs: no cookie, no origin, no token', async () => {
    const { secret } = await fixture.consoleApp.operators.create({ name: 'bot', scopes: ['approvals:decide'] })
    const headers = { authorization: `Bearer ${secret}` }
    const ticket = await asked('by-bot')
    const reply = await send(fixture.url, `api/tickets/${ticket['id']}/decision`, {
      method: 'POST',
      headers,
      body: { approved: true, digest: ticket['digest'] },
    })
    expect(reply.body).toMatchObject({ status: 'approved', decisions: [{ by: 'bot' }] })
    const { body } = await send(fixture.url, 'api/openapi.json', { headers })
    const documented = Object.values(body['paths'] as Record<string, Record<string, { operationId: string }>>)
      .flatMap((methods) => Object.values(methods))
      .map(({ operationId }) => operationId)
    expect(documented).toEqual(expect.arrayContaining([...Object.keys(routes), 'events', 'exportAudit']))
  })
})

describe('the documentation is true', () => {
  /** Every shape as a strict schema: an undocumented field fails. */
  const definitions = JSON.parse(JSON.stringify(schemas), function strict(_key, value) {
    if (value?.['$ref']) return { $ref: `#/$defs/${value['$ref']}` }
    return value?.type === 'object' && value.properties ? { ...value, additionalProperties: false } : value
  })
  const check = (output: unknown, value: unknown): unknown => {
    const linked = JSON.parse(JSON.stringify(output), (key, each) => (key === '$ref' ? `#/$defs/${each}` : each))
    const parsed = jsonSchema({ ...linked, $defs: definitions })['~standard'].validate(value)
    return parsed instanceof Promise ? ['late'] : (parsed.issues ?? [])
  }

  test('every answer has the shape the table gives it', async () => {
    const ticket = await asked('documented')
    const id = String(ticket['id'])
    const all = (await owner.get('api/keys')).body['keys'] as { id: string; revoked?: number; subject: string }[]
    const key = all[0]?.id
    const tried = all.find(({ revoked, subject }) => revoked === undefined && subject === 'agent')?.id
    const asks: Record<keyof typeof routes, () => Promise<{ readonly body: unknown; readonly status: number }>> = {
      signIn: async () => {
        const link = (await fixture.consoleApp.link()).split('/').at(-1)
        const origin = new URL(fixture.url).origin
        return send(fixture.url, 'api/session', { method: 'POST', headers: { origin }, body: { link } })
      },
      getSession: () => owner.get('api/session'),
      listTickets: () => owner.get('api/tickets'),
      getTicket: () => owner.get(`api/tickets/${id}`),
      decideTicket: () => decision(ticket, true),
      getTicketContext: () => owner.get(`api/tickets/${id}/context`),
      takeBackTicket: () => owner.post(`api/tickets/${id}/take-back`),
      resolveTicket: async () => ({ status: 200, body: (await owner.get(`api/tickets/${id}`)).body }),
      createGrant: () => owner.post(`api/tickets/${id}/grant`, { arguments: 'exactly', lastMs: 60_000 }),
      listGrants: () => owner.get('api/grants'),
      revokeGrant: async () => {
        const { grants } = (await owner.get('api/grants')).body as { grants: { id: string }[] }
        return owner.post(`api/grants/${encodeURIComponent(grants[0]?.id ?? '')}/revoke`)
      },
      getLive: () => owner.get('api/live'),
      listServers: () => owner.get('api/servers'),
      tryTool: () =>
        owner.post('api/servers/shop/tools/price/try', { key: tried, arguments: '{"article":"documented"}' }),
      getHistory: () => owner.get('api/history'),
      listClients: () => owner.get('api/clients'),
      // test/console/operate.test.ts has a gateway.
      listUpstreams: () => owner.get('api/upstreams'),
      restartUpstream: async () => ({ status: 200, body: {} }),
      getDefinitions: async () => ({ status: 200, body: { definitions: [] } }),
      decideDefinition: async () => ({ status: 200, body: {} }),
      // test/console/upstream-sign-in.test.ts has an upstream to sign in to.
      startUpstreamSignIn: async () => ({ status: 200, body: { url: 'https://id.example.com/' } }),
      confirmUpstreamSignIn: async () => ({ status: 200, body: {} }),
      endUpstreamSignIn: async () => ({ status: 200, body: {} }),
      listAccess: () => owner.get('api/access?server=shop'),
      listTenants: () => owner.get('api/tenants'),
      listKeys: () => owner.get('api/keys'),
      revokeKey: () => owner.post(`api/keys/${key}/revoke`),
      listAudit: () => owner.get('api/audit?tenant=acme'),
      verifyAudit: () => owner.post('api/audit/verify', { tenant: 'acme' }),
      signOut: async () => (await signInAsOwner(fixture)).post('api/session/end'),
    }
    for (const [name, run] of Object.entries(asks)) {
      const { status, body } = await run()
      expect([name, status, check(routes[name as keyof typeof routes].output, body)]).toEqual([name, 200, []])
    }
  })

  test('every route is in docs/console.md', () => {
    const page = readFileSync(new URL('../../docs/console.md', import.meta.url), 'utf8')
    for (const { method, path } of Object.values(routes)) expect(page).toContain(`${method} ${path}\``)
  })

  test.each([
    ['api/tickets?stauts=pending', 'stauts'],
    ['api/tickets?status=all', 'status'],
    ['api/tickets?limit=0', 'limit'],
    ['api/tickets?limit=1e9', 'limit'],
    ['api/audit?tenant=acme&before=-1', 'before'],
    ['api/audit?before={"acme":-1}', 'before'],
    [`api/live?tool=${'x'.repeat(300)}`, 'tool'],
  ])('an invalid query is refused by name: %s', async (path, field) => {
    const reply = await owner.get(path)
    expect(reply).toMatchObject({ status: 400, body: { reason: 'invalidParams' } })
    expect(reply.body['message']).toContain(field)
  })

  test.each<[unknown, number]>([
    ['not json', 400],
    [[], 400],
    ['null', 400],
    [{ tenant: 5 }, 400],
    [{}, 400],
    [{ tenant: 'acme', more: 1 }, 400],
    [{ tenant: 'x'.repeat(70_000) }, 413],
  ])('an invalid body changes nothing: %j', async (body, status) => {
    expect((await owner.post('api/audit/verify', body)).status).toBe(status)
  })

  test('an unknown path and a wrong method are reported as such', async () => {
    expect((await owner.get('api/nothing')).status).toBe(404)
    expect((await owner.get('api/audit/verify')).status).toBe(405)
    expect((await owner.post('api/tickets')).status).toBe(405)
  })
})
