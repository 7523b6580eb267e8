import { join } from 'node:path'
import type { Params, ServerOptions, Store, Tool } from 'sluice'
import { audit, createServer as createPortableServer, defineServer, memoryStore, RpcError, tool } from 'sluice'
import type { ApprovalsOptions } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createServer, serveHttp } from 'sluice/node'
import { elicitation, idempotency } from 'sluice/plugins'
import { sqliteStore } from 'sluice/sqlite'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import type { ApprovalsFixture } from '../kit/servers/approvals.fixture.ts'
import { gatedTools, openApprovalsFixture, operator, owner, requiredIn } from '../kit/servers/approvals.fixture.ts'

const minute = 60_000
/** Accepts its input, and then makes the caller's own object look harmless. */
const shiftySchema = {
  '~standard': {
    version: 1 as const,
    vendor: 'test',
    validate(value: unknown) {
      const args = value as { amount: number }
      const taken = { ...args }
      args.amount = 5
      return { value: taken }
    },
    jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) },
  },
}
const text = (answer: Params): string =>
  (answer['result'] as { content: readonly { text: string }[] }).content.map((block) => block.text).join()
const reason = (answer: Params): unknown =>
  (answer['error'] as { data?: { reason?: string } } | undefined)?.data?.reason

describe('the flow of a call that needs an approval', () => {
  test('the answer says that an approval is required, a person approves, the same call again runs once', async () => {
    const { call, approvals, ran } = await openApprovalsFixture()
    const first = requiredIn(await call('pay', { amount: 5 }))
    expect(first).toEqual({
      approval_required: true,
      request_id: expect.any(String),
      message: 'User approval required for tool: pay',
      next_step: expect.stringContaining('call the tool again with the same arguments'),
    })
    expect(requiredIn(await call('pay', { amount: 5 })).request_id).toBe(first.request_id)
    expect(ran).toEqual([])
    await approvals.decide(first.request_id, { approved: true }, owner)
    expect(text(await call('pay', { amount: 5 }))).toBe('Paid 5')
    expect(ran).toEqual([{ amount: 5, memo: 'none' }])
    expect(await approvals.get(first.request_id)).toMatchObject({ status: 'done', decisions: [{ by: 'ann' }] })
  })

  test.each([
    ['memory', undefined],
    ['SQLite', () => sqliteStore(join(temporaryFolder(), 'store.db'))],
  ])('on %s, tickets of one millisecond are listed as they were made', async (_, makeStore) => {
    const store = makeStore?.()
    const { call, approvals } = await openApprovalsFixture({}, store && { store })
    const made: string[] = []
    for (let amount = 1; amount <= 12; amount++) made.push(requiredIn(await call('pay', { amount })).request_id)
    const listed: string[] = []
    for (let after: string | undefined, more = true; more; ) {
      const page = await approvals.list({ limit: 5, ...(after !== undefined && { after }) })
      listed.push(...page.tickets.map(({ id }) => id))
      after = page.next
      more = after !== undefined
    }
    expect(listed).toEqual(made)
    for (const id of made) await approvals.decide(id, { approved: false }, owner)
    expect((await approvals.list()).tickets.map(({ id }) => id)).toEqual(made.toReversed())
    await store?.close()
  })

  test('the ticket shows the caller, the complete request and its binding', async () => {
    const { call, approvals } = await openApprovalsFixture({ url: 'https://console.example' })
    const { request_id, url } = requiredIn(await call('pay', { to: 'bob', amount: 5 }))
    expect(url).toBe(`https://console.example/approvals/${request_id}`)
    expect(await approvals.get(request_id)).toMatchObject({
      ...{ id: request_id, status: 'pending', tenant: 'acme', server: 'shop', tool: 'pay', title: 'Pay', url },
      caller: { subject: 'ann', credential: expect.stringMatching(/^key /), client: 'agent 9' },
      description: 'Pays somebody',
      annotations: { destructiveHint: true },
      arguments: '{"amount":5,"to":"bob"}',
      answers: '{}',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      definition: expect.stringMatching(/^[0-9a-f]{64}$/),
      needed: 1,
      decisions: [],
    })
  })

  test('order and spelling of the arguments do not matter, any value does', async () => {
    const { call, approvals, ran } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('pay', { amount: 5, to: 'bob' }))
    await approvals.decide(request_id, { approved: true }, owner)
    expect(requiredIn(await call('pay', { amount: 5.5, to: 'bob' })).request_id).not.toBe(request_id)
    expect(requiredIn(await call('pay', { amount: 5, to: 'bob ' })).request_id).not.toBe(request_id)
    expect(text(await call('pay', { to: 'bob', amount: 5.0 }))).toBe('Paid 5')
    expect(ran).toHaveLength(1)
  })

  test('repeated without the ticket after it ran, it needs a new one, and the approver sees the earlier run', async () => {
    const { call, approvals, ran } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.decide(request_id, { approved: true }, owner)
    await call('pay', { amount: 5 })
    const again = requiredIn(await call('pay', { amount: 5 }))
    expect(again.request_id).not.toBe(request_id)
    expect(await approvals.get(again.request_id)).toMatchObject({
      previous: { id: request_id, arguments: '{"amount":5}', status: 'done' },
    })
    expect(ran).toHaveLength(1)
  })

  test('a denial is reported with its note, and holds until it expires', async () => {
    const { call, approvals, clock, ran } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.decide(request_id, { approved: false, note: 'too much' }, owner)
    for (let again = 0; again < 3; again++) {
      const answer = await call('pay', { amount: 5 })
      expect(answer['result']).toMatchObject({ isError: true })
      expect(text(answer)).toContain('too much')
    }
    await clock.advance(10 * minute)
    expect(requiredIn(await call('pay', { amount: 5 })).request_id).not.toBe(request_id)
    expect(ran).toEqual([])
  })

  test('an approval that was not used in time does not run any more', async () => {
    const { call, approvals, clock, ran } = await openApprovalsFixture()
    const { request_id } = requiredIn(await call('pay', { amount: 5 }))
    await approvals.decide(request_id, { approved: true }, owner)
    await clock.advance(10 * minute)
    expect(requiredIn(await call('pay', { amount: 5 })).request_id).not.toBe(request_id)
    expect(ran).toEqual([])
  })

  test("the answers to a tool's questions are part of the approved call", async () => {
    const { request, approvals, ran } = await openApprovalsFixture()
    const capabilities = { elicitation: { form: {} } }
    const ship = async (city: string): Promise<Params> => {
      const asked = await request('tools/call', { name: 'ship', arguments: { parcel: 'p' } }, { capabilities })
      const { requestState } = asked['result'] as Params
      const inputResponses = { where: { action: 'accept', content: { city } } }
      const more = { name: 'ship', arguments: { parcel: 'p' }, requestState, inputResponses }
      return request('tools/call', more, { capabilities })
    }
    const { request_id } = requiredIn(await ship('Oslo'))
    expect(await approvals.get(request_id)).toMatchObject({ answers: '{"where":{"city":"Oslo"}}' })
    await approvals.decide(request_id, { approved: true }, owner)
    expect(requiredIn(await ship('Rome')).request_id).not.toBe(request_id)
    expect(text(await ship('Oslo'))).toBe('Sent to Oslo')
    expect(ran).toEqual([{ parcel: 'p', city: 'Oslo' }])
  })

  test('a tool that decides by its input needs an approval only then', async () => {
    const { call, ran } = await openApprovalsFixture()
    expect(text(await call('price', { amount: 100 }))).toBe('ok')
    requiredIn(await call('price', { amount: 101 }))
    expect(ran).toEqual([{ amount: 100 }])
  })

  test('a client that checks results against an output schema gets an error, not a false result', async () => {
    const { call } = await openApprovalsFixture()
    const answer = await call('count')
    requiredIn(answer)
    expect(answer['result']).toMatchObject({ isError: true })
    expect((await call('pay', { amount: 1 }))['result']).toMatchObject({ isError: false })
  })

  test('a ticket of a tool that fails has the status failed', async () => {
    const broken = tool({
      name: 'broken',
      description: 'x',
      approval: 'always',
      stateless: true,
      run: () => Promise.reject(new Error('x')),
    })
    const { call, approvals } = await openApprovalsFixture({}, { tools: () => [broken] })
    const { request_id } = requiredIn(await call('broken'))
    await approvals.decide(request_id, { approved: true }, owner)
    expect((await call('broken'))['result']).toMatchObject({ isError: true })
    expect(await approvals.get(request_id)).toMatchObject({ status: 'failed' })
  })

  test('questions of the work stay in their order on the ticket, whichever is answered first', async () => {
    const asking = tool({
      ...{ name: 'asking', description: 'x', approval: 'always', stateless: true },
      async run(_, { call }) {
        await call.recordQuestion?.({ key: '1', question: 'Who?' })
        await call.recordQuestion?.({ key: '2', question: 'When?' })
        await call.recordQuestion?.({ key: '1', question: 'Who?', answer: 'Ann' })
        return 'done'
      },
    })
    const { call, approvals } = await openApprovalsFixture({}, { tools: () => [asking] })
    const { request_id } = requiredIn(await call('asking'))
    await approvals.decide(request_id, { approved: true }, owner)
    await call('asking')
    expect((await approvals.get(request_id))?.questions).toEqual([
      { key: '1', question: 'Who?', answer: 'Ann' },
      { key: '2', question: 'When?' },
    ])
  })
})

test("the stored arguments run, even if the caller's object changes in the meantime", async () => {
  const shifty = (ran: unknown[]): Tool[] => [
    tool({
      name: 'pay',
      description: 'Its schema changes what it is given',
      input: shiftySchema,
      approval: 'always',
      stateless: true,
      run(input) {
        ran.push(input)
        return 'paid'
      },
    }),
  ]
  const { call, approvals, ran } = await openApprovalsFixture({}, { tools: shifty })
  const { request_id } = requiredIn(await call('pay', { amount: 500 }))
  expect(await approvals.get(request_id)).toMatchObject({ arguments: '{"amount":5}' })
  await approvals.decide(request_id, { approved: true }, owner)
  await call('pay', { amount: 500 })
  expect(ran).toEqual([{ amount: 5 }])
})

describe('marked as running and never claimed, because the store was unavailable or the process died', () => {
  async function marked(): Promise<ApprovalsFixture & { id: string }> {
    const clock = fakeClock(1_700_000_000_000)
    const inner = memoryStore(clock)
    let away = false
    const swap: Store['swap'] = (key, ...rest) =>
      away && key.includes('once') ? Promise.reject(new RpcError('storeUnavailable', 'away')) : inner.swap(key, ...rest)
    const shop = await openApprovalsFixture({}, { store: { ...inner, swap }, clock })
    const { request_id: id } = requiredIn(await shop.call('refund', { amount: 5 }))
    await shop.approvals.decide(id, { approved: true }, owner)
    away = true
    expect(reason(await shop.call('refund', { amount: 5 }))).toBe('storeUnavailable')
    away = false
    expect(shop.ran).toEqual([])
    return { ...shop, id }
  }

  test('it still runs before it expires', async () => {
    const { call, approvals, ran, id } = await marked()
    expect(await approvals.get(id)).toMatchObject({ status: 'approved' })
    expect(text(await call('refund', { amount: 5 }))).toBe('Refunded 5')
    expect(ran).toHaveLength(1)
  })

  test('it does not run after it expired', async () => {
    const { call, approvals, ran, clock, id } = await marked()
    await clock.advance(10 * minute)
    expect(await approvals.get(id)).toMatchObject({ status: 'expired' })
    expect(reason(await call('refund', { amount: 5, approval_request_id: id }))).toBe('approvalInvalid')
    expect(requiredIn(await call('refund', { amount: 5 })).request_id).not.toBe(id)
    expect(ran).toEqual([])
  })
})

describe('on 2026-07-28, a client that can open pages', () => {
  const capabilities = { elicitation: { url: {} } }
  const url = 'https://console.example'
  const pay = { name: 'pay', arguments: { amount: 5 } }

  test('is asked to open one, and comes back with sealed state that names the ticket', async () => {
    const { request, approvals, ran } = await openApprovalsFixture({ url })
    const asked = (await request('tools/call', pay, { capabilities }))['result'] as Params
    const [ticket] = (await approvals.list()).tickets
    expect(asked).toMatchObject({
      resultType: 'input_required',
      inputRequests: {
        'dev.sluice/approval': {
          method: 'elicitation/create',
          params: { mode: 'url', message: 'User approval required for tool: pay', url: ticket?.url },
        },
      },
      requestState: expect.any(String),
    })
    const { requestState } = asked
    const inputResponses = { 'dev.sluice/approval': { action: 'accept' } }
    const again = { ...pay, requestState, inputResponses }
    // Opening the page decides nothing.
    expect((await request('tools/call', again, { capabilities }))['result']).toMatchObject({
      resultType: 'input_required',
    })
    expect(ran).toEqual([])
    await approvals.decide(ticket?.id ?? '', { approved: true }, owner)
    expect(text(await request('tools/call', again, { capabilities }))).toBe('Paid 5')
    // The answer was lost, and the client asks again by id: the same answer, and nothing runs.
    expect(text(await request('tools/call', again, { capabilities }))).toBe('Paid 5')
    expect(ran).toHaveLength(1)
  })

  test('if the user does not open the page, the answer says that nothing ran', async () => {
    const { request, ran } = await openApprovalsFixture({ url })
    const { requestState } = (await request('tools/call', pay, { capabilities }))['result'] as Params
    for (const action of ['decline', 'cancel']) {
      const inputResponses = { 'dev.sluice/approval': { action } }
      const answer = await request('tools/call', { ...pay, requestState, inputResponses }, { capabilities })
      expect(answer['result']).toMatchObject({ isError: true })
    }
    expect(ran).toEqual([])
  })

  test('if another person must decide, this user gets no page to open', async () => {
    const { request } = await openApprovalsFixture({ url, approver: 'other' })
    requiredIn(await request('tools/call', pay, { capabilities }))
  })
})

describe('holding', () => {
  test('a quick decision saves the caller the second call, and the client is notified of the wait', async () => {
    const { server, approvals, clock, ran, keyFor } = await openApprovalsFixture({ waitMs: 12_000 })
    const received: Params[] = []
    const proposed = new Promise((resolve) => approvals.watch(resolve))
    const token = await keyFor('ann', ['acme'])
    const params = { name: 'pay', arguments: { amount: 5 }, token, _meta: { progressToken: 'p' } }
    const answer = server.handle(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { send: (sent) => received.push({ ...sent }) },
    )
    await proposed
    await clock.advance(6_000)
    const [ticket] = (await approvals.list()).tickets
    await approvals.decide(ticket?.id ?? '', { approved: true }, owner)
    expect(text({ ...(await answer) })).toBe('Paid 5')
    expect(ran).toHaveLength(1)
    const progress = received.map(({ params: said }) => (said as { progress: number }).progress)
    expect(progress).toEqual([-12, -7])
    // The timer that moves the time mark once the ticket has ended.
    expect(clock.pending).toBe(1)
  })

  test('a slow decision does not hold the call for longer than half of its deadline', async () => {
    const { call, clock, approvals } = await openApprovalsFixture({ waitMs: 10 * minute })
    const proposed = new Promise((resolve) => approvals.watch(resolve))
    const answer = call('pay', { amount: 5 })
    await proposed
    await clock.advance(15_000)
    requiredIn(await answer)
  })
})

describe('rules of the operator', () => {
  test("the first matching rule decides, before the tool's own policy", async () => {
    const { call, approvals, ran } = await openApprovalsFixture({
      rules: [
        { tool: 'pay', caller: 'ann', tenant: 'acme', approval: 'never' },
        { annotations: { readOnlyHint: true }, approval: 'tool' },
        { tool: ['lo*', 'ship'], approval: 'never' },
        { annotations: { destructiveHint: true }, approval: 'always', needed: 2, of: ['olga', 'omar'] },
      ],
    })
    expect(text(await call('pay', { amount: 1 }))).toBe('Paid 1')
    expect(text(await call('look'))).toBe('seen')
    const { request_id } = requiredIn(await call('price', { amount: 1 }))
    expect(await approvals.get(request_id)).toMatchObject({ needed: 2, of: ['olga', 'omar'] })
    expect(ran).toEqual([{ amount: 1, memo: 'none' }, 'look'])
    expect(approvals.rules.map(({ text: words }) => words)).toEqual([
      'tool pay for tenant acme called by ann: needs no approval',
      'every tool with readOnlyHint: as the tool states',
      'tool lo* or ship: needs no approval',
      'every tool with destructiveHint: needs an approval, 2 of olga, omar',
    ])
  })

  test('a meaningless rule does not start', () => {
    for (const rule of [
      { approval: 'sometimes' },
      { approval: 'always', needed: 0 },
      { approval: 'always', needed: 2, of: ['olga', 'olga'] },
      { approval: 'always', annotations: { dangerous: true } },
    ])
      expect(() => createApprovals({ store: memoryStore(), rules: [rule as never] })).toThrow(TypeError)
  })
})

describe('approvals for several servers', () => {
  test('show the tickets of all of them, and each server runs its own', async () => {
    const { approvals, store, clock, call, ran } = await openApprovalsFixture()
    const there: unknown[] = []
    const other = createServer(defineServer({ name: 'bank', version: '1', tools: gatedTools(there) }), {
      ...{ store, clock, use: [approvals, idempotency(), elicitation()] },
    })
    const paid = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: { amount: 5 } } }
    requiredIn(await call('pay', { amount: 5 }))
    const { request_id } = requiredIn({ ...(await other.handle(paid)) })
    expect((await approvals.list()).tickets.map(({ server }) => server).sort()).toEqual(['bank', 'shop'])
    await approvals.decide(request_id, { approved: true }, operator)
    await other.handle(paid)
    requiredIn(await call('pay', { amount: 5 }))
    expect([ran.length, there.length]).toEqual([0, 1])
  })

  test('a different store, or none yet, is refused with a message', async () => {
    const { approvals, store } = await openApprovalsFixture()
    const definition = defineServer({ name: 'x', version: '1' })
    expect(() => createServer(definition, { use: [approvals, idempotency()] })).toThrow(/same "store"/)
    expect(() => createServer(definition, { store, use: [approvals, audit(), idempotency()] })).toThrow(/createAudit/)
    expect(() => createPortableServer(definition, { store, use: [approvals] })).toThrow(/needs "idempotency"/)
  })
})

describe('over a network', () => {
  const gatedBy = (options: ApprovalsOptions = {}): ServerOptions => {
    const store = memoryStore()
    return { store, use: [createApprovals({ store, ...options }), idempotency()] }
  }
  const gated = gatedTools([])
  const definition = defineServer({
    name: 'shop',
    version: '1',
    tools: gated.filter(({ name }) => name === 'pay'),
  })
  const open = defineServer({
    name: 'shop',
    version: '1',
    tools: gated.filter(({ name }) => name === 'look'),
  })

  test('a gated tool without authentication does not start, and the message says what to do', async () => {
    const server = createServer(definition, gatedBy())
    await expect(serveHttp(server, { port: 0 })).rejects.toThrow(/"pay".*authenticate/)
    await expect(serveHttp(definition, { port: 0 })).rejects.toThrow(/"pay".*createApprovals/)
  })

  test('a tool that only a rule gates does not start either', async () => {
    const rules = [{ annotations: { readOnlyHint: true }, approval: 'always' as const }]
    const server = createServer(open, gatedBy({ rules }))
    await expect(serveHttp(server, { port: 0 })).rejects.toThrow(/"look".*authenticate/)
  })

  test('a gated tool cannot be added while anonymous callers are served', async () => {
    const server = createServer(open, gatedBy())
    const serving = await serveHttp(server, { port: 0 })
    expect(() => server.update(definition)).toThrow(/authenticate/)
    await serving.close()
  })

  test('and a caller without a credential is refused all the same', async () => {
    const { server, ran } = await openApprovalsFixture()
    const via = { transport: 'http' as const, peer: '127.0.0.1', header: () => undefined }
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'pay', arguments: { amount: 1 } } }
    expect(reason({ ...(await server.handle(message, { via })) })).toBe('unauthorized')
    expect(ran).toEqual([])
  })
})
