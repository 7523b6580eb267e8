/**
 * The approval workflow of the live-Lisp server's document, as written: with `approver: 'client'` one client performs
 * all steps. docs/documents.md#003 says where Sluice differs, and why.
 */

import type { Params } from 'sluice'
import { defineServer, memoryStore, tool } from 'sluice'
import type { ApprovalsOptions } from 'sluice/approvals'
import { approvalArguments, createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { idempotency } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openApprovalsFixture, requiredIn } from '../kit/servers/approvals.fixture.ts'

const stdio = { transport: 'stdio' as const, peer: 'stdio', header: () => undefined }

function open(options: ApprovalsOptions = { approver: 'client' }) {
  const clock = fakeClock()
  const ran: string[] = []
  const store = memoryStore(clock)
  const desk = createApprovals({ store, clock, ...options })
  const evaluate = tool({
    name: 'repl_eval',
    description: 'Evaluates Lisp',
    input: z.object({ code: z.string() }),
    approval: 'always',
    stateless: true,
    approvalArguments,
    run({ code }) {
      ran.push(code)
      return `=> ${code}`
    },
  })
  const health = tool({ name: 'health_check', description: 'Whether it lives', run: () => 'healthy' })
  const server = createServer(defineServer({ name: 'lisp', version: '1', tools: [evaluate, health] }), {
    ...{ clock, store, use: [desk, idempotency()] },
  })
  let ids = 0
  const send = async (method: string, params: Params, via = stdio): Promise<Params> => ({
    ...(await server.handle({ jsonrpc: '2.0', id: ++ids, method, params }, { via })),
  })
  return {
    ...{ clock, ran, desk, send },
    evaluate: (args: Params) => send('tools/call', { name: 'repl_eval', arguments: args }),
    respond: (params: Params, via = stdio) => send('approval/respond', params, via),
  }
}
const said = (answer: Params): unknown =>
  (answer['result'] as { content: readonly { text: string }[] }).content[0]?.text
const code = (answer: Params): unknown => (answer['error'] as { code: number } | undefined)?.code

test('required, recorded, called again with the id and the flag: it runs once', async () => {
  const { evaluate, respond, ran } = open()
  const answer = await evaluate({ code: '(+ 1 2)' })
  expect(answer['result']).toMatchObject({ isError: false })
  const { request_id, message } = requiredIn(answer)
  expect(message).toBe('User approval required for tool: repl_eval')
  expect((await respond({ request_id, approved: true }))['result']).toEqual({ recorded: true, approved: true })
  const again = { code: '(+ 1 2)', approval_request_id: request_id, approved: true }
  expect(said(await evaluate(again))).toBe('=> (+ 1 2)')
  expect(ran).toEqual(['(+ 1 2)'])
  // The id is spent: it returns the earlier result, and nothing runs.
  expect(said(await evaluate(again))).toBe('=> (+ 1 2)')
  expect(ran).toHaveLength(1)
})

test('a tool that needs no approval runs at once', async () => {
  const { send } = open()
  expect(said(await send('tools/call', { name: 'health_check', arguments: {} }))).toBe('healthy')
})

test.each([[true], ['true'], ['True'], [false], ['false']])('approved may be %j', async (approved) => {
  const { evaluate, respond } = open()
  const { request_id } = requiredIn(await evaluate({ code: 'x' }))
  const yes = String(approved).toLowerCase() === 'true'
  expect((await respond({ request_id, approved }))['result']).toMatchObject({ recorded: true, approved: yes })
})

test('a denial has a message, its id does not run, and a new call needs a new approval', async () => {
  const { evaluate, respond, ran } = open()
  const { request_id } = requiredIn(await evaluate({ code: 'x' }))
  expect((await respond({ request_id, approved: false }))['result']).toEqual({
    recorded: true,
    approved: false,
    message: 'User denied approval. You can retry by invoking the tool again.',
  })
  const refused = await evaluate({ code: 'x', approval_request_id: request_id, approved: true })
  expect(refused['result']).toMatchObject({ isError: true })
  expect(requiredIn(await evaluate({ code: 'x' })).request_id).not.toBe(request_id)
  const mine = requiredIn(await evaluate({ code: 'y' }))
  const reply = await respond({ request_id: mine.request_id, approved: false, message: 'Not on a Friday' })
  expect(reply['result']).toMatchObject({ message: 'Not on a Friday' })
  expect(ran).toEqual([])
})

describe('invalid ids', () => {
  test('an unknown id is refused, and nothing runs', async () => {
    const { respond, evaluate, ran } = open()
    const request_id = crypto.randomUUID()
    expect(code(await respond({ request_id, approved: true }))).toBe(-32004)
    expect(code(await evaluate({ code: 'x', approval_request_id: request_id, approved: true }))).toBe(-32004)
    expect(ran).toEqual([])
  })

  test.each([[undefined], [null], [''], [7], [{}], ['x'.repeat(300)]])('%j is not an id', async (request_id) => {
    const { respond } = open()
    expect(code(await respond({ request_id, approved: true }))).toBe(-32602)
  })

  test.each([[undefined], [null], ['yes'], [1], [{}]])('approved: %j says nothing', async (approved) => {
    const { evaluate, respond, desk } = open()
    const { request_id } = requiredIn(await evaluate({ code: 'x' }))
    expect(code(await respond({ request_id, approved }))).toBe(-32602)
    expect(await desk.get(request_id)).toMatchObject({ status: 'pending' })
  })

  test('an expired one, before the decision or after it', async () => {
    const { evaluate, respond, clock, ran } = open()
    const [late, unused] = [requiredIn(await evaluate({ code: 'a' })), requiredIn(await evaluate({ code: 'b' }))]
    await respond({ request_id: unused.request_id, approved: true })
    await clock.advance(10 * 60_000)
    expect(code(await respond({ request_id: late.request_id, approved: true }))).toBe(-32004)
    for (const { request_id } of [late, unused])
      expect(code(await evaluate({ code: 'b', approval_request_id: request_id, approved: true }))).toBe(-32004)
    expect(ran).toEqual([])
  })

  test('one that was approved for another call', async () => {
    const { evaluate, respond, ran } = open()
    const { request_id } = requiredIn(await evaluate({ code: '(list-files)' }))
    await respond({ request_id, approved: true })
    const other = { code: '(delete-files)', approval_request_id: request_id, approved: true }
    expect(code(await evaluate(other))).toBe(-32004)
    expect(ran).toEqual([])
  })
})

test('the flag alone has no effect, and an undecided id still requires an approval', async () => {
  const { evaluate, ran } = open()
  const { request_id } = requiredIn(await evaluate({ code: 'x', approved: true }))
  expect(requiredIn(await evaluate({ code: 'x', approval_request_id: request_id, approved: true })).request_id).toBe(
    request_id,
  )
  expect(requiredIn(await evaluate({ code: 'x', approval_request_id: '', approved: null })).request_id).toBe(request_id)
  expect(ran).toEqual([])
})

test('both arguments are in the schema of tools that opt in, and nowhere else', async () => {
  const { send } = open()
  const { tools } = (await send('tools/list', {}))['result'] as {
    tools: readonly { name: string; inputSchema: { properties?: Params } }[]
  }
  const properties = tools.map(({ name, inputSchema }) => [name, Object.keys(inputSchema.properties ?? {})])
  expect(properties).toEqual([
    ['repl_eval', ['code', 'approval_request_id', 'approved']],
    ['health_check', []],
  ])
  const own = { name: 'x', description: 'x', input: z.object({ approved: z.boolean() }), run: () => 'x' }
  expect(() => tool({ ...own, approvalArguments })).toThrow(/"approved" is reserved/)
})

test("a client's decision counts only on this machine", async () => {
  const { call, server, approvals, keyFor } = await openApprovalsFixture({ approver: 'client' })
  const { request_id } = requiredIn(await call('pay', { amount: 1 }))
  const authorization = `Bearer ${await keyFor('ann', ['acme'])}`
  const message = { jsonrpc: '2.0', id: 1, method: 'approval/respond', params: { request_id, approved: true } }
  const from = (peer: string, more: Params = {}) => ({
    via: {
      transport: 'http' as const,
      peer,
      header: (name: string) => ({ ...more, authorization })[name] as string | undefined,
    },
  })
  const forbidden = { error: { data: { reason: 'forbidden' } } }
  for (const peer of ['192.0.2.7', '', '::ffff:10.0.0.1', 'localhost', '::11'])
    expect(await server.handle(message, from(peer))).toMatchObject(forbidden)
  // Through a proxy on this machine.
  for (const header of ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip'])
    expect(await server.handle(message, from('127.0.0.1', { [header]: '192.0.2.7' }))).toMatchObject(forbidden)
  expect(await approvals.get(request_id)).toMatchObject({ status: 'pending' })
  expect(await server.handle(message, from('::ffff:127.0.0.1'))).toMatchObject({ result: { recorded: true } })
})

test("a client's decision counts only for its own requests", async () => {
  const { call, request, keyFor } = await openApprovalsFixture({ approver: 'client' })
  const { request_id } = requiredIn(await call('pay', { amount: 1 }))
  for (const token of [await keyFor('bob', ['acme']), await keyFor('ann', ['globex'])])
    expect(
      await request('approval/respond', { request_id, approved: true }, { revision: 'legacy', token }),
    ).toMatchObject({
      error: { code: -32004 },
    })
})

test('a client of 2026-07-28 responds if it declares the extension, which the server lists', async () => {
  const { evaluate, send } = open()
  const meta = (capabilities: Params): Params => ({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  })
  const { request_id } = requiredIn(await evaluate({ code: 'x' }))
  const extensions = { 'dev.sluice/approvals': {} }
  expect((await send('server/discover', { _meta: meta({}) }))['result']).toMatchObject({ capabilities: { extensions } })
  const params = { request_id, approved: true }
  expect(await send('approval/respond', { ...params, _meta: meta({}) })).toMatchObject({
    error: { code: -32021, data: { requiredCapabilities: { extensions } } },
  })
  expect(await send('approval/respond', { ...params, _meta: meta({ extensions }) })).toMatchObject({
    result: { recorded: true, approved: true },
  })
})
