/** The operator's rules for tools of others: approvals, scopes, limits, idempotency, audit, formats. */

import { audit, memoryStore, rateLimit } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import type { Client } from 'sluice/client'
import type { Upstream, UpstreamRule } from 'sluice/gateway-node'
import { upstream } from 'sluice/gateway-node'
import { toon } from 'sluice/toon'
import { describe, expect, test } from 'vitest'
import { clientOf, eras, namesOf, servedAlone, token, withTokens } from './kit.ts'
import type { Members, RawUpstream } from './raw-upstream.ts'
import { rawTool, rawUpstream, textResult } from './raw-upstream.ts'

const calls = ({ requests }: RawUpstream): number => requests.filter(({ method }) => method === 'tools/call').length
const at = ({ url }: RawUpstream, rules: readonly UpstreamRule[], more: Partial<Upstream> = {}): Upstream => ({
  ...upstream({ name: 'raw', url, rules }),
  ...more,
})
const owner = { subject: 'ann', credential: 'console', via: 'console', tenants: ['acme'], operator: false } as const
/** Returns the id of the ticket that a call asks for. */
const ticketOf = ({ _meta }: Members): string =>
  String(((_meta as Members)['dev.sluice/approval'] as Members | undefined)?.['request_id'])

describe('approvals', () => {
  async function open(
    raw: RawUpstream,
    rules: readonly UpstreamRule[],
    more: Partial<Upstream> = {},
    approvalRules = [],
  ) {
    const store = memoryStore()
    const approvals = createApprovals({ store, rules: approvalRules })
    const { url, team } = await servedAlone(at(raw, rules, more), { store, use: [...withTokens, approvals] })
    return { approvals, team, url, client: await clientOf(url, {}, token('acme.ann')) }
  }

  test('a ticket names the upstream and its definition, and says that the effect is unknown', async () => {
    const raw = await rawUpstream({ tools: [rawTool('delete_all'), rawTool('read')] })
    const { approvals, client } = await open(raw, [{ tools: 'delete_*', approval: 'always' }])
    await client.callTool('read')
    expect(calls(raw)).toBe(1)
    const id = ticketOf(await client.callTool('delete_all', { path: '/' }))
    expect(await approvals.get(id)).toMatchObject({
      ...{ status: 'pending', tool: 'delete_all', arguments: '{"path":"/"}', server: 'raw' },
      definition: expect.stringMatching(/^[0-9a-f]{64}$/),
      effect: { Upstream: 'raw', Definition: expect.stringMatching(/^[0-9a-f]{16}$/), Effect: 'unknown' },
    })
    expect(calls(raw)).toBe(1)
    await approvals.decide(id, { approved: true }, owner)
    expect(await client.callTool('delete_all', { path: '/' })).toMatchObject({ content: [{ text: '{"path":"/"}' }] })
    expect(calls(raw)).toBe(2)
  })

  test('an approval is not used up by a call that did not reach its upstream', async () => {
    const raw = await rawUpstream({ tools: [rawTool('pay')] })
    const { approvals, client } = await open(raw, [{ approval: 'always' }])
    const id = ticketOf(await client.callTool('pay'))
    await approvals.decide(id, { approved: true }, owner)
    await raw.stop()
    expect(await client.callTool('pay')).toMatchObject({ isError: true })
    await raw.start()
    expect(await approvals.get(id)).toMatchObject({ status: 'approved' })
    expect(await client.callTool('pay')).toMatchObject({ content: [{ text: '{}' }] })
    expect(await approvals.get(id)).toMatchObject({ status: 'done' })
    expect(calls(raw)).toBe(1)
  })

  test.each([
    ['a flipped destructiveHint', { annotations: { destructiveHint: true } }],
    ['another description', { description: 'Does something else' }],
    ['another _meta', { _meta: { 'com.example/a': 1 } }],
    ['another output schema', { outputSchema: { type: 'object' } }],
    ['another icon', { icons: [{ src: 'https://example.com/a.png' }] }],
    ['another task support, which clients do not see', { execution: { taskSupport: 'optional' } }],
  ])('%s voids an approval, also after an operator accepted it', async (_, change) => {
    const plain = rawTool('pay', { annotations: { destructiveHint: false } })
    const raw = await rawUpstream({ tools: [plain] })
    const { approvals, client, team } = await open(raw, [{ approval: 'always' }])
    const id = ticketOf(await client.callTool('pay'))
    await approvals.decide(id, { approved: true }, owner)
    raw.lists.tools = [{ ...plain, ...change }]
    await team.restart('raw')
    await expect(client.callTool('pay')).rejects.toMatchObject({ data: { reason: 'unknownTool' } })
    const [changed] = await team.review.quarantined('raw')
    const { id: definition = '', hash = '' } = changed ?? {}
    const operator = { subject: 'olga', via: 'console', tenants: 'all', operator: true } as const
    await team.review.accept('raw', [{ id: definition, hash }], operator)
    expect(ticketOf(await client.callTool('pay'))).not.toBe(id)
    expect(calls(raw)).toBe(0)
  })

  test('a readOnlyHint opens nothing, unless the operator trusts hints', async () => {
    const raw = await rawUpstream({ tools: [rawTool('read', { annotations: { readOnlyHint: true } })] })
    const rules = [{ annotations: { readOnlyHint: true }, approval: 'never' as const }, { approval: 'always' as const }]
    const distrusted = await open(raw, [], {}, rules as never)
    expect(ticketOf(await distrusted.client.callTool('read'))).not.toBe('undefined')
    expect(calls(raw)).toBe(0)
    const trusted = await open(raw, [], { trustHints: true }, rules as never)
    expect(await trusted.client.callTool('read')).toMatchObject({ content: [{ text: '{}' }] })
  })

  test('questions of an upstream are not asked in a call that a person approved', async () => {
    const raw = await rawUpstream({ tools: [rawTool('pay')] })
    raw.respond = () => ({ resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } } })
    const { approvals, url } = await open(raw, [{ approval: 'always' }])
    const client = await clientOf(url, { handlers: { roots: () => ({ roots: [] }) } }, token('acme.ann'))
    const id = ticketOf(await client.callTool('pay'))
    await approvals.decide(id, { approved: true }, owner)
    expect(await client.callTool('pay')).toMatchObject({ isError: true })
    expect(calls(raw)).toBe(1)
  })
})

test('a hidden tool is neither listed nor called, and the first rule that states a member decides it', async () => {
  const raw = await rawUpstream({ tools: ['read', 'write', 'drop'].map((name) => rawTool(name)) })
  const rules = [{ tools: 'drop', allow: false }, { tools: ['drop', 'write'], scopes: ['write'] }, { allow: true }]
  const { url } = await servedAlone(at(raw, rules), { use: withTokens })
  const reader = await clientOf(url, {}, token('acme.ann'))
  const writer = await clientOf(url, {}, token('acme.bob-write'))
  expect(await namesOf(reader.tools())).toEqual(['read'])
  expect(await namesOf(writer.tools())).toEqual(['read', 'write'])
  await expect(writer.callTool('drop')).rejects.toMatchObject({ data: { reason: 'unknownTool' } })
  await expect(reader.callTool('write')).rejects.toMatchObject({ data: { reason: 'unknownTool' } })
  expect(calls(raw)).toBe(0)
})

test.each(eras)('a call with an idempotency key reaches the upstream once, for a client of %s', async (revision) => {
  const raw = await rawUpstream()
  let ran = 0
  raw.respond = () => textResult(`ran ${++ran}`)
  const { url } = await servedAlone(at(raw, []), { use: withTokens })
  const client = await clientOf(url, { revision }, token('acme.ann'))
  const params = { name: 'echo', arguments: {}, _meta: { 'dev.sluice/idempotencyKey': 'key-1' } }
  const send = async (): Promise<unknown> => (await client.request('tools/call', params))['content']
  expect(await Promise.all([send(), send(), send()])).toEqual(Array(3).fill([{ type: 'text', text: 'ran 1' }]))
  expect(await send()).toEqual([{ type: 'text', text: 'ran 1' }])
})

test.each(eras)(
  'a key is not spent by a call that did not reach its upstream, for a client of %s',
  async (revision) => {
    const raw = await rawUpstream()
    const { url } = await servedAlone(at(raw, []), { use: withTokens })
    const client = await clientOf(url, { revision }, token('acme.ann'))
    const send = (): Promise<Members> =>
      client.request('tools/call', { name: 'echo', arguments: {}, _meta: { 'dev.sluice/idempotencyKey': 'key-1' } })
    await raw.stop()
    expect(await send()).toMatchObject({ isError: true })
    await raw.start()
    expect(await send()).toMatchObject({ content: [{ text: '{}' }] })
    expect(await send()).toMatchObject({ content: [{ text: '{}' }] })
    expect(calls(raw)).toBe(1)
  },
)

test('limits count calls of upstream tools', async () => {
  const raw = await rawUpstream()
  const { url } = await servedAlone(at(raw, []), { use: [...withTokens, rateLimit({ burst: 3, perSecond: 0.001 })] })
  const client: Client = await clientOf(url, {}, token('acme.ann'))
  const outcomes = await Promise.allSettled(Array.from({ length: 5 }, () => client.callTool('echo')))
  expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThanOrEqual(2)
  expect(calls(raw)).toBeLessThanOrEqual(3)
})

test('calls of upstream tools are in the audit, without their arguments', async () => {
  const raw = await rawUpstream()
  const store = memoryStore()
  const { url } = await servedAlone(at(raw, []), { store, use: [...withTokens, audit()] })
  await (await clientOf(url, {}, token('acme.ann'))).callTool('echo', { secret: 'abc' })
  const texts = async (): Promise<string> => {
    const entries = await store.list([], { limit: 1000 })
    return entries
      .map(({ key, value }) => `${key.join('/')} ${value}`)
      .filter((text) => text.includes('audit'))
      .join('\n')
  }
  await expect.poll(texts).toContain('"echo"')
  expect(await texts()).not.toContain('abc')
})

test('the format of a rule applies to results of any upstream', async () => {
  const outputSchema = { type: 'object' }
  const raw = await rawUpstream({ tools: [rawTool('rows'), rawTool('checked', { outputSchema }), rawTool('plain')] })
  const structuredContent = {
    rows: [
      { id: 1, name: 'a' },
      { id: 2, name: 'b' },
      { id: 3, name: 'c' },
    ],
  }
  raw.respond = () => textResult(JSON.stringify(structuredContent), { structuredContent })
  const { url } = await servedAlone(at(raw, [{ tools: ['rows', 'checked'], format: toon }]), { use: withTokens })
  const client = await clientOf(url, {}, token('acme.ann'))
  const content = [{ text: 'rows[3]{id,name}:\n  1,a\n  2,b\n  3,c' }]
  const rows = await client.callTool('rows')
  expect(rows).toMatchObject({ content })
  expect(rows).not.toHaveProperty('structuredContent')
  // A tool with an output schema must have it.
  expect(await client.callTool('checked')).toMatchObject({ content, structuredContent })
  expect(await client.callTool('plain')).toMatchObject({ content: [{ text: JSON.stringify(structuredContent) }] })
})
