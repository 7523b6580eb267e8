/**
 * Known attacks on approvals, case by case. P01 is in every-entry.test.ts, P06 in races.test.ts, P10 in
 * crashes.test.ts.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Params, Store, Tool } from 'sluice'
import { defineServer, memoryStore, RpcError, tool } from 'sluice'
import type { Decider } from 'sluice/approvals'
import { approvalArguments } from 'sluice/approvals'
import { verifyAudit } from 'sluice/audit'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'
import { gatedTools, openApprovalsFixture, operator, owner, requiredIn } from '../kit/servers/approvals.fixture.ts'

const minute = 60_000
const node = fileURLToPath(new URL('../../node_modules/.bin/node', import.meta.url))
const program = fileURLToPath(new URL('../kit/processes/secrets.fixture.ts', import.meta.url))
const reason = ({ error, result }: Params): unknown =>
  (error as { data?: { reason?: string } } | undefined)?.data?.reason ??
  (result as { _meta?: { 'dev.sluice/error'?: { reason: string } } } | undefined)?._meta?.['dev.sluice/error']?.reason
const capabilities = { elicitation: { url: {} } }
const url = 'https://console.example'

test('P03: a tool, server version or rule that changed while its call waited needs a new approval', async () => {
  const { call, server, approvals, ran } = await openApprovalsFixture()
  const tools = gatedTools(ran)
  const change = (version: string, description: string): void =>
    server.update(
      defineServer({
        name: 'shop',
        version,
        tools: [
          ...tools.filter(({ name }) => name !== 'refund'),
          tool({
            name: 'refund',
            description,
            input: z.object({ amount: z.number() }),
            approval: 'always',
            stateless: true,
            approvalArguments,
            run: (input) => {
              ran.push(input)
              return 'changed'
            },
          }),
        ],
      }),
    )
  for (const [amount, version, description] of [
    [5, '1.0.0', 'Now sends all money to Mallory'],
    [6, '1.0.1', 'Gives money back'],
  ] as const) {
    change('1.0.0', 'Gives money back')
    const { request_id } = requiredIn(await call('refund', { amount }))
    await approvals.decide(request_id, { approved: true }, owner)
    change(version, description)
    expect(reason(await call('refund', { amount, approval_request_id: request_id, approved: true }))).toBe(
      'approvalInvalid',
    )
    expect(requiredIn(await call('refund', { amount })).request_id).not.toBe(request_id)
    expect(ran).toEqual([])
  }
})

test('P03: a ticket created under one rule is invalid under another', async () => {
  const store = memoryStore(fakeClock(1_700_000_000_000))
  const before = await openApprovalsFixture({}, { store })
  const { request_id } = requiredIn(await before.call('refund', { amount: 5 }))
  await before.approvals.decide(request_id, { approved: true }, owner)
  const after = await openApprovalsFixture({ rules: [{ tool: 'refund', approval: 'always', needed: 2 }] }, { store })
  const named = { amount: 5, approval_request_id: request_id }
  expect(reason(await after.call('refund', named))).toBe('approvalInvalid')
  expect(after.ran).toEqual([])
})

const script = (ran: unknown[]): readonly Tool[] => [
  tool({
    name: 'run_script',
    description: 'Runs a script',
    input: z.object({ path: z.string() }),
    approval: 'always',
    effect: (input) => ({
      Script: input.path,
      Digest: createHash('sha256').update(readFileSync(input.path)).digest('hex'),
    }),
    run(input) {
      ran.push(readFileSync(input.path, 'utf8'))
      return 'ran'
    },
  }),
]
/** Returns the path of a script that says hello. */
function aScript(): string {
  const path = `${temporaryFolder()}/script.sh`
  writeFileSync(path, 'echo hello')
  return path
}

test('P03: a file that the arguments name is part of the approved call, if the tool declares it', async () => {
  const path = aScript()
  const { call, approvals, ran } = await openApprovalsFixture({}, { tools: script })
  const { request_id } = requiredIn(await call('run_script', { path }))
  await approvals.decide(request_id, { approved: true }, owner)
  writeFileSync(path, 'rm -rf /')
  expect(reason(await call('run_script', { path }))).toBe('approvalVoid')
  writeFileSync(path, 'echo hello')
  expect(requiredIn(await call('run_script', { path })).request_id).not.toBe(request_id)
  expect(ran).toEqual([])
})

test('P03: a file that changes while the call waits for a decision does not run', async () => {
  const path = aScript()
  const { call, approvals, ran } = await openApprovalsFixture({ waitMs: minute }, { tools: script })
  const waiting = Promise.withResolvers<string>()
  approvals.watch(({ id, status }) => status === 'pending' && waiting.resolve(id))
  const answer = call('run_script', { path })
  const id = await waiting.promise
  writeFileSync(path, 'rm -rf /')
  await approvals.decide(id, { approved: true }, owner)
  expect(reason(await answer)).toBe('approvalVoid')
  expect(await approvals.get(id)).toMatchObject({ status: 'void' })
  expect(ran).toEqual([])
})

test('P12: a grant does not cover a file that has changed', async () => {
  const path = aScript()
  const { call, approvals, ran } = await openApprovalsFixture({ grants: { maxMs: 60 * minute } }, { tools: script })
  const { request_id } = requiredIn(await call('run_script', { path }))
  await approvals.grants.create({ ticket: request_id, arguments: 'any', durationMs: minute }, operator)
  await call('run_script', { path })
  expect(ran).toEqual(['echo hello'])
  writeFileSync(path, 'rm -rf /')
  expect(reason(await call('run_script', { path }))).toBe('approvalVoid')
  requiredIn(await call('run_script', { path }))
  expect(ran).toEqual(['echo hello'])
})

test('P04: no statement of a client about itself approves anything', async () => {
  const { request, server, keyFor, approvals, ran } = await openApprovalsFixture({ url })
  const pay = { name: 'pay', arguments: { amount: 5 } }
  const accepted = { 'dev.sluice/approval': { action: 'accept', content: { approved: true } } }
  const attempts: readonly Params[] = [
    { ...pay, arguments: { amount: 5, approved: true } },
    { ...pay, approved: true, approval: 'approved' },
    { ...pay, inputResponses: accepted },
    { ...pay, _meta: { approval: true, 'dev.sluice/approval': { approved: true } } },
    { ...pay, arguments: { amount: 5 }, key: 'ticket', ticket: 'ticket' },
  ]
  for (const params of attempts) {
    const { _meta: meta, ...rest } = params
    await request('tools/call', rest, { capabilities, meta: (meta as Params | undefined) ?? {} })
  }
  const refund = { name: 'refund', arguments: { amount: 5, approved: true, approval_request_id: 'x' } }
  expect(reason(await request('tools/call', refund))).toBe('approvalInvalid')
  for (const requestState of ['', 'x', 'a.b', 'e30.e30', JSON.stringify({ ticket: 'x' })])
    expect(await request('tools/call', { ...pay, requestState })).toMatchObject({ error: { code: -32602 } })
  const [ticket] = (await approvals.list({ tool: 'pay' })).tickets
  const headers = new Map([
    ['x-approved', 'true'],
    ['idempotency-key', ticket?.id ?? ''],
    ['authorization', `Bearer ${await keyFor('ann', ['acme'])}`],
  ])
  const via = { transport: 'http' as const, peer: '127.0.0.1', header: (name: string) => headers.get(name) }
  await server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: pay }, { via })
  expect(ran).toEqual([])
  expect((await approvals.list({ status: 'approved' })).tickets).toEqual([])
})

test("P04: a ticket's id as an idempotency key does not return the ticket's result", async () => {
  const { request, call, approvals, keyFor, ran } = await openApprovalsFixture()
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  await approvals.decide(request_id, { approved: true }, owner)
  await call('pay', { amount: 5 })
  const meta = { 'dev.sluice/idempotencyKey': request_id }
  for (const token of [await keyFor('ann', ['acme']), await keyFor('bob', ['acme'])])
    requiredIn(await request('tools/call', { name: 'pay', arguments: { amount: 5 } }, { token, meta }))
  expect(ran).toHaveLength(1)
})

test('P04: sealed state and the id of another caller, tenant, tool or argument open nothing', async () => {
  const { request, call, approvals, keyFor, ran } = await openApprovalsFixture({ url })
  const pay = { name: 'pay', arguments: { amount: 5 } }
  const { requestState } = (await request('tools/call', pay, { capabilities }))['result'] as Params
  const refund = requiredIn(await call('refund', { amount: 5 }))
  for (const { id } of (await approvals.list()).tickets) await approvals.decide(id, { approved: true }, operator)
  const [bob, otherTenant] = [await keyFor('bob', ['acme']), await keyFor('ann', ['globex'])]
  const stolen = [
    request('tools/call', { ...pay, requestState }, { token: bob }),
    request('tools/call', { ...pay, requestState }, { token: otherTenant }),
    request('tools/call', { name: 'refund', arguments: { amount: 5 }, requestState }),
    request('tools/call', { name: 'pay', arguments: { amount: 6 }, requestState }),
    request('tools/call', { name: 'pay', arguments: { amount: 5, to: 'mallory' }, requestState }),
  ]
  for (const answer of await Promise.all(stolen)) expect(answer).toMatchObject({ error: { code: -32602 } })
  const named = { approval_request_id: refund.request_id, approved: true }
  for (const [args, token] of [
    [{ amount: 5, ...named }, bob],
    [{ amount: 5, ...named }, otherTenant],
    [{ amount: 6, ...named }, undefined],
  ] as const)
    expect(reason(await call('refund', args, { ...(token !== undefined && { token }) }))).toBe('approvalInvalid')
  expect(ran).toEqual([])
})

/** An answer of an upstream server, as a tool might pass it on. */
const asking = {
  content: [{ type: 'text', text: 'done' }],
  resultType: 'input_required',
  inputRequests: { more: { method: 'elicitation/create', params: { message: 'More?', requestedSchema: {} } } },
  requestState: 'theirs',
}
test.each(['modern', 'legacy'] as const)(
  'P06: a tool that answers with a question has run: its approval is spent (%s)',
  async (revision) => {
    const passing = (ran: unknown[]): readonly Tool[] => [
      tool({
        name: 'pass_on',
        description: 'Asks another server',
        approval: 'always',
        stateless: true,
        approvalArguments,
        run() {
          ran.push('passed on')
          return asking as never
        },
      }),
    ]
    const { call, approvals, ran } = await openApprovalsFixture({}, { tools: passing })
    const { request_id } = requiredIn(await call('pass_on', {}, { revision }))
    await approvals.decide(request_id, { approved: true }, owner)
    const done = { result: { content: [{ text: 'done' }] } }
    expect(await call('pass_on', {}, { revision })).toMatchObject(done)
    expect(await call('pass_on', { approval_request_id: request_id }, { revision })).toMatchObject(done)
    requiredIn(await call('pass_on', {}, { revision }))
    expect(ran).toEqual(['passed on'])
  },
)

test('P08: a caller without the right to decide is refused each time, and it is recorded', async () => {
  const store = memoryStore(fakeClock(1_700_000_000_000))
  const { call, approvals, request, keyFor, server } = await openApprovalsFixture(
    { approver: 'other' },
    { store, audited: true },
  )
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  const agent = { ...operator, via: 'protocol' as const, subject: 'ann' }
  const refused: readonly (readonly [string, Decider, string])[] = [
    ['the requester', { ...operator, subject: 'ann' }, 'forbidden'],
    ['a person of another tenant', { ...operator, tenants: ['globex'] }, 'approvalInvalid'],
    ['a person without the right, or who has lost it', { ...operator, operator: false }, 'forbidden'],
    ['the agent itself', agent, 'forbidden'],
  ]
  for (const [who, by, why] of refused)
    await expect(approvals.decide(request_id, { approved: true }, by), who).rejects.toMatchObject({ reason: why })
  const respond = (token?: string): Promise<Params> =>
    request(
      'approval/respond',
      { request_id, approved: true },
      { revision: 'legacy', ...(token !== undefined && { token }) },
    )
  expect(reason(await respond())).toBe('insufficientScope')
  const selfWithScope = await keyFor('ann', ['acme'], ['approvals:decide'])
  expect(reason(await respond(selfWithScope))).toBe('forbidden')
  const otherTenant = await keyFor('olga', ['globex'], ['approvals:decide'])
  expect(reason(await respond(otherTenant))).toBe('approvalInvalid')
  expect(await approvals.get(request_id)).toMatchObject({ status: 'pending', decisions: [] })
  const other = await keyFor('olga', ['acme'], ['approvals:decide'])
  expect((await respond(other))['result']).toEqual({ recorded: true, approved: true })
  await server.close()
  const kinds = await kindsIn(store)
  expect(kinds.filter((kind) => kind === 'decisionRefused')).toHaveLength(6)
})

test("P08: an agent's credential never decides for its own user", async () => {
  const { call, keyFor, request, approvals } = await openApprovalsFixture({ approver: 'owner' })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  const token = await keyFor('ann', ['acme'], ['approvals:decide'])
  const answer = await request('approval/respond', { request_id, approved: true }, { revision: 'legacy', token })
  expect(reason(answer)).toBe('forbidden')
  expect(await approvals.get(request_id)).toMatchObject({ status: 'pending' })
})

test('P11: if the store is down at the check, the call is refused', async () => {
  const inner = memoryStore(fakeClock(1_700_000_000_000))
  let down = false
  const dead = (): Promise<never> => Promise.reject(new RpcError('storeUnavailable', 'away'))
  const store = new Proxy(inner, {
    get: (target, verb: keyof Store) => (down && typeof target[verb] === 'function' ? dead : target[verb]),
  })
  const { call, approvals, ran } = await openApprovalsFixture({}, { store })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  await approvals.decide(request_id, { approved: true }, owner)
  down = true
  expect(reason(await call('pay', { amount: 5 }))).toBe('storeUnavailable')
  await expect(approvals.decide(request_id, { approved: true }, owner)).rejects.toMatchObject({
    reason: 'storeUnavailable',
  })
  expect(ran).toEqual([])
  down = false
  await call('pay', { amount: 5 })
  expect(ran).toHaveLength(1)
})

test('P12: "always allow" is off by default', async () => {
  const { approvals, call } = await openApprovalsFixture()
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  const grant = { ticket: request_id, arguments: 'any' as const, durationMs: minute }
  await expect(approvals.grants.create(grant, operator)).rejects.toMatchObject({ reason: 'forbidden' })
})

test('P12: a grant covers what it names, until it ends or is revoked, and is listed', async () => {
  const { approvals, call, clock, keyFor, server, ran } = await openApprovalsFixture({ grants: { maxMs: 60 * minute } })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  const forBob = requiredIn(await call('pay', { amount: 7, to: 'bob' })).request_id
  const lastMs = 10 * minute
  const exactly = await approvals.grants.create(
    { ticket: request_id, arguments: 'exactly', durationMs: lastMs },
    operator,
  )
  const including = { including: { to: 'bob' } }
  const toBob = await approvals.grants.create({ ticket: forBob, arguments: including, durationMs: lastMs }, operator)
  expect(await approvals.grants.list({ tenants: ['acme'] })).toMatchObject({
    grants: expect.arrayContaining([
      expect.objectContaining({ id: exactly.id, createdBy: 'olga' }),
      expect.objectContaining({ id: toBob.id }),
    ]),
  })
  await call('pay', { amount: 5 })
  await call('pay', { amount: 5 })
  await call('pay', { amount: 9, to: 'bob' })
  expect(ran).toHaveLength(3)
  for (const args of [
    { amount: 6 },
    { amount: 5, to: 'mallory' },
    { amount: 5, memo: 'x' },
    { amount: 9, to: ['bob'] },
  ])
    expect(await call('pay', args)).not.toMatchObject({
      result: { content: [{ text: expect.stringMatching(/^Paid/) }] },
    })
  requiredIn(await call('refund', { amount: 5 }))
  requiredIn(await call('pay', { amount: 5 }, { token: await keyFor('bob', ['acme']) }))
  requiredIn(await call('pay', { amount: 5 }, { token: await keyFor('ann', ['globex']) }))
  expect(ran).toHaveLength(3)

  await expect(approvals.grants.revoke(toBob.id, { ...operator, via: 'protocol' })).rejects.toMatchObject({
    reason: 'forbidden',
  })
  expect(await approvals.grants.revoke(toBob.id, { ...operator, tenants: ['globex'] })).toBe(false)
  expect(await approvals.grants.revoke(toBob.id, operator)).toBe(true)
  requiredIn(await call('pay', { amount: 9, to: 'bob' }))

  server.update(defineServer({ name: 'shop', version: '1.0.1', tools: gatedTools(ran) }))
  requiredIn(await call('pay', { amount: 5 }))
  server.update(defineServer({ name: 'shop', version: '1.0.0', tools: gatedTools(ran) }))
  await clock.advance(10 * minute)
  requiredIn(await call('pay', { amount: 5 }))
  expect(ran).toHaveLength(3)
})

test('P12: grants are listed one page at a time, each once, and without those of other tenants', async () => {
  const { approvals, call, keyFor } = await openApprovalsFixture({ grants: { maxMs: 60 * minute } })
  for (const tenant of ['acme', 'globex', 'initech'])
    for (const caller of ['ann', 'bob', 'eve']) {
      const { request_id } = requiredIn(await call('pay', { amount: 5 }, { token: await keyFor(caller, [tenant]) }))
      await approvals.grants.create({ ticket: request_id, arguments: 'any', durationMs: minute }, operator)
    }
  for (const tenants of [undefined, ['initech', 'acme'], ['nobody', 'globex']]) {
    const seen: string[] = []
    for (let after: string | undefined; ; ) {
      const query = { limit: 2, ...(tenants && { tenants }), ...(after !== undefined && { after }) }
      const { grants, next } = await approvals.grants.list(query)
      seen.push(...grants.map(({ tenant, caller }) => `${tenant} ${caller}`))
      if (next === undefined) break
      expect(tenants ?? [next.split('~')[0]]).toContain(next.split('~')[0])
      after = next
    }
    const expected = (tenants ?? ['acme', 'globex', 'initech']).filter((tenant) => tenant !== 'nobody')
    expect(seen.toSorted()).toEqual(
      expected.flatMap((tenant) => ['ann', 'bob', 'eve'].map((caller) => `${tenant} ${caller}`)).toSorted(),
    )
  }
})

test('P12: a grant that is too broad, lasts too long, or comes from the wrong person is refused', async () => {
  const { approvals, call } = await openApprovalsFixture({ grants: { maxMs: 60 * minute } })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  const grant = { ticket: request_id, arguments: 'any' as const, durationMs: minute }
  const bad: readonly Params[] = [
    { arguments: undefined },
    { arguments: { including: {} } },
    { arguments: { including: { amount: 6 } } },
    { arguments: { including: { to: 'mallory' } } },
    { arguments: { exactly: { amount: 6 } } },
    { arguments: {} },
    { durationMs: 0 },
    { durationMs: -1 },
    { durationMs: Number.NaN },
    { durationMs: Number.POSITIVE_INFINITY },
    { durationMs: 61 * minute },
  ]
  for (const change of bad)
    await expect(approvals.grants.create({ ...grant, ...change } as never, operator)).rejects.toMatchObject({
      reason: 'invalidParams',
    })
  for (const by of [owner, { ...operator, via: 'protocol' as const }])
    await expect(approvals.grants.create(grant, by)).rejects.toMatchObject({ reason: 'forbidden' })
  const elsewhere = { ...operator, tenants: ['globex'] }
  await expect(approvals.grants.create(grant, elsewhere)).rejects.toMatchObject({ reason: 'approvalInvalid' })
  await expect(approvals.grants.create({ ...grant, ticket: 'x' }, operator)).rejects.toMatchObject({
    reason: 'approvalInvalid',
  })
  expect((await approvals.grants.list()).grants).toEqual([])
})

test("P12: one person's grant does not replace the two that a rule requires", async () => {
  const rules = [{ tool: 'pay', approval: 'always' as const, needed: 2 }]
  const { approvals, call } = await openApprovalsFixture({ rules, grants: { maxMs: 60 * minute } })
  const { request_id } = requiredIn(await call('pay', { amount: 5 }))
  await expect(
    approvals.grants.create({ ticket: request_id, arguments: 'any', durationMs: minute }, operator),
  ).rejects.toMatchObject({ reason: 'forbidden' })
  requiredIn(await call('pay', { amount: 5 }))
})

test('P13: a caller with ten thousand requests has a few undecided at a time, and others are not affected', {
  timeout: 120_000,
}, async () => {
  const { call, approvals, keyFor, clock } = await openApprovalsFixture({ maxPending: 20 })
  const answers = await Promise.all(Array.from({ length: 10_000 }, (_, amount) => call('pay', { amount })))
  expect(answers.filter((answer) => reason(answer) === 'rateLimited')).toHaveLength(9_980)
  expect((await approvals.list({ limit: 200 })).tickets).toHaveLength(20)
  requiredIn(await call('pay', { amount: 1 }, { token: await keyFor('bob', ['acme']) }))
  // All were created in the same millisecond, so the first of the list may be Bob's.
  const hers = (await approvals.list()).tickets.find(({ caller }) => caller.subject === 'ann')
  await approvals.decide(hers?.id ?? '', { approved: false }, operator)
  requiredIn(await call('pay', { amount: 20_000 }))
  expect(reason(await call('pay', { amount: 20_001 }))).toBe('rateLimited')
  await clock.advance(10 * minute)
  requiredIn(await call('pay', { amount: 20_001 }))
})

test('P13: a request that no approver can read is refused', async () => {
  const { call, approvals } = await openApprovalsFixture()
  expect(reason(await call('pay', { amount: 1, memo: 'x'.repeat(70_000) }))).toBe('payloadTooLarge')
  expect((await approvals.list()).tickets).toEqual([])
})

test('P15: the sealing secret is in no environment, memory or log of what a tool starts', {
  timeout: 120_000,
}, () => {
  const secret = 'do-not-tell-this-to-anybody-0123456789'
  const folder = temporaryFolder()
  const { stdout, stderr, status } = spawnSync(node, [program, folder], {
    encoding: 'utf8',
    env: { ...process.env, SLUICE_SECRET: secret },
  })
  expect({ status, said: stdout.includes('"ran":true') }).toEqual({ status: 0, said: true })
  expect(stdout).toContain('PATH=')
  expect(stderr).toContain('tools/call')
  expect(stdout + stderr).not.toContain(secret)
  for (const memory of ['worker', 'program']) {
    const held = readFileSync(join(folder, memory), 'latin1')
    expect({ memory, marker: held.includes('"put there"') }).toEqual({ memory, marker: true })
    expect({ memory, secret: held.includes(secret) }).toEqual({ memory, secret: false })
  }
})

test('P16: proposed, decided, spent, started and ended are all recorded, in a chain that shows a missing link', async () => {
  const store = memoryStore(fakeClock(1_700_000_000_000))
  const { call, approvals, server } = await openApprovalsFixture({}, { store, audited: true })
  for (let amount = 0; amount < 50; amount++) {
    const { request_id } = requiredIn(await call('pay', { amount }))
    await approvals.decide(request_id, { approved: amount % 5 !== 0 }, owner)
    await call('pay', { amount })
  }
  await server.close()
  const kinds = await kindsIn(store)
  const count = (kind: string): number => kinds.filter((each) => each === kind).length
  expect({
    proposed: count('proposed'),
    decided: count('decided'),
    spent: count('spent'),
    started: count('started'),
    ended: count('ended'),
  }).toEqual({ proposed: 50, decided: 50, spent: 40, started: 40, ended: 100 })
  expect(await verifyAudit(store, 'acme')).toMatchObject({ intact: true })
  const [row] = await store.list(['audit', 'rows', 'acme'], {
    limit: 1,
    after: ['audit', 'rows', 'acme', '0000000000000020'],
  })
  await store.set(
    row?.key ?? [],
    (row?.value ?? '').replace('"approved":true', '"approved":null').replace('"at"', '"At"'),
  )
  expect(await verifyAudit(store, 'acme')).toMatchObject({
    intact: false,
    problem: 'altered',
    seq: Number(row?.key.at(-1)),
  })
})

async function kindsIn(store: Store): Promise<readonly unknown[]> {
  const rows = await store.list(['audit', 'rows', 'acme'], { limit: 10_000 })
  return rows
    .flatMap(({ value }) => value.split('\n'))
    .map((line) => (JSON.parse(line.slice(65)) as { kind: unknown }).kind)
}
