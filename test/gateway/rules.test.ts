/** Rules that name callers, preset arguments, renames and profiles in a program: what is bound, hidden and announced. */

import { memoryStore, rateLimit } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import type { Upstream, UpstreamRule } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer } from 'sluice/node'
import { log } from 'sluice/plugins'
import { describe, expect, onTestFinished, test } from 'vitest'
import { allOf, clientOf, eras, namesOf, served, servedAlone, servedGateway, token, withTokens } from './kit.ts'
import type { Members, RawUpstream } from './raw-upstream.ts'
import { rawTool, rawUpstream, textResult } from './raw-upstream.ts'

const silent = { info() {}, warn() {}, error() {} }
const at = ({ url }: RawUpstream, rules: readonly UpstreamRule[], name = 'raw'): Upstream =>
  upstream({ name, url, rules, trust: 'always' })
const sent = ({ requests }: RawUpstream): readonly unknown[] =>
  requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params['arguments'])
const owner = { subject: 'ann', credential: 'console', via: 'console', tenants: ['acme'], operator: false } as const
const ticketOf = ({ _meta }: Members): string =>
  String(((_meta as Members | undefined)?.['dev.sluice/approval'] as Members | undefined)?.['request_id'])

const payTool = rawTool('pay', {
  inputSchema: {
    type: 'object',
    properties: { to: { type: 'string' }, account: { $ref: '#/$defs/account' }, note: { type: 'string' } },
    required: ['to', 'account'],
    anyOf: [{ required: ['account', 'note'] }, { required: ['to'] }],
    dependentRequired: { account: ['to'], note: ['account'] },
    $defs: { account: { type: 'string', minLength: 2 } },
  },
})

describe('preset arguments', () => {
  test.each(eras)('are removed from the whole schema, for a client of %s', async (revision) => {
    const raw = await rawUpstream({ tools: [payTool] })
    const rules = [{ fixed: { account: 'main' }, defaults: { note: 'none' } }]
    const { url } = await servedAlone(at(raw, rules), { use: withTokens })
    const client = await clientOf(url, { revision }, token('acme.ann'))
    const [tool] = await allOf(client.tools())
    const schema = tool?.['inputSchema'] as Members | undefined
    expect(schema).toMatchObject({
      properties: { to: { type: 'string' }, note: { type: 'string', default: 'none' } },
      required: ['to'],
      anyOf: [{}, { required: ['to'] }],
      dependentRequired: { note: [] },
    })
    expect(JSON.stringify(schema?.['anyOf'])).not.toContain('account')
    expect(Object.keys(schema?.['properties'] ?? {})).toEqual(['to', 'note'])
    await client.callTool('pay', { to: 'bob' })
    expect(sent(raw)).toEqual([{ to: 'bob', account: 'main', note: 'none' }])
    for (const account of ['main', 'other', null])
      expect(await client.callTool('pay', { to: 'bob', account })).toMatchObject({ isError: true })
    expect(sent(raw)).toHaveLength(1)
  })

  test('are on the ticket, part of what is approved, and part of the hash of the definition', async () => {
    const raw = await rawUpstream({ tools: [payTool] })
    const store = memoryStore()
    const approvals = createApprovals({ store })
    const open = async (account: string) => {
      const rules = [{ approval: 'always' as const, fixed: { account } }]
      const { url } = await servedAlone(at(raw, rules), { store, use: [...withTokens, approvals] })
      return clientOf(url, {}, token('acme.ann'))
    }
    const client = await open('main')
    const id = ticketOf(await client.callTool('pay', { to: 'bob' }))
    const ticket = await approvals.get(id)
    expect(ticket).toMatchObject({
      arguments: '{"account":"main","to":"bob"}',
      effect: { Upstream: 'raw', 'Set by the operator': 'account' },
    })
    await approvals.decide(id, { approved: true }, owner)
    // Another value is another definition, so the approval does not cover it.
    const changed = await open('side')
    const other = ticketOf(await changed.callTool('pay', { to: 'bob' }))
    expect(other).not.toBe(id)
    expect((await approvals.get(other))?.definition).not.toBe(ticket?.definition)
    expect(sent(raw)).toEqual([])
    await client.callTool('pay', { to: 'bob' })
    expect(sent(raw)).toEqual([{ to: 'bob', account: 'main' }])
  })

  test('a tool that no longer has the argument of its own rule is not served', async () => {
    const raw = await rawUpstream({ tools: [payTool, rawTool('read')] })
    const { url, team } = await servedAlone(at(raw, [{ tools: 'pay', fixed: { account: 'main' } }]), {
      use: withTokens,
    })
    const client = await clientOf(url, {}, token('acme.ann'))
    expect(await namesOf(client.tools())).toEqual(['pay', 'read'])
    const inputSchema = { type: 'object', properties: { to: {}, purse: {} } }
    raw.lists.tools = [{ ...payTool, inputSchema }, rawTool('read')]
    await team.restart('raw')
    expect(await namesOf(client.tools())).toEqual(['read'])
    const [state] = team.states()
    expect(state?.leftOut[0]).toMatchObject({ name: 'pay', reason: expect.stringContaining('no such argument') })
    expect(state?.ruleProblems[0]).toContain('rules[0].fixed.account: the tool has no such argument')
  })
})

test('an upstream cannot take a name that a rule gave to another tool', async () => {
  const raw = await rawUpstream({ tools: [rawTool('delete_file'), rawTool('read')] })
  const { url, team } = await servedAlone(at(raw, [{ tools: 'delete_file', rename: 'remove' }]), { use: withTokens })
  const client = await clientOf(url, {}, token('acme.ann'))
  raw.lists.tools = [rawTool('remove'), rawTool('delete_file')]
  await team.restart('raw')
  await client.callTool('remove')
  const called = raw.requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params['name'])
  expect(called).toEqual(['delete_file'])
  expect(team.states()[0]?.leftOut).toMatchObject([{ name: 'remove', reason: 'a rule gives its name to delete_file' }])
})

describe('callers that see different tools', () => {
  const rules = [
    { tools: 'extra', tenants: 'acme', allow: true },
    { tools: 'extra', allow: false },
    { tools: 'read', callers: 'ann', rename: 'view' },
  ]
  test.each(eras)('see and call their own names, on every endpoint, as clients of %s', async (revision) => {
    const raw = await rawUpstream({ tools: ['read', 'extra'].map((name) => rawTool(name)) })
    const { url } = await servedGateway([at(raw, rules)], { use: withTokens })
    const client = (name: string) => clientOf(url, { revision }, token(name))
    const [ann, amy, bob] = [await client('acme.ann'), await client('acme.amy'), await client('other.bob')]
    expect(await namesOf(ann.tools())).toEqual(['raw_view', 'raw_extra'])
    expect(await namesOf(amy.tools())).toEqual(['raw_read', 'raw_extra'])
    expect(await namesOf(bob.tools())).toEqual(['raw_read'])
    await ann.callTool('raw_view')
    await amy.callTool('raw_extra')
    expect(raw.requests.filter(({ method }) => method === 'tools/call').map(({ params }) => params['name'])).toEqual([
      'read',
      'extra',
    ])
    for (const [who, name] of [
      [ann, 'raw_read'],
      [bob, 'raw_extra'],
      [bob, 'raw_view'],
    ] as const)
      await expect(who.callTool(name)).rejects.toMatchObject({ data: { reason: 'unknownTool' } })
    // The refusal names only what this caller sees.
    await expect(bob.callTool('x')).rejects.toMatchObject({ data: { available_tools: ['raw_read'] } })
  })

  test('no shared cache may keep their lists, and a change that only they see is announced', async () => {
    const raw = await rawUpstream({ tools: ['read', 'extra'].map((name) => rawTool(name)) })
    const { url, team } = await servedAlone(at(raw, rules), { use: withTokens })
    const changes: string[] = []
    const client = await clientOf(
      url,
      { revision: '2025-11-25', onNotification: (method) => changes.push(method) },
      token('acme.amy'),
    )
    const modern = await clientOf(url, { revision: '2026-07-28' }, token('acme.amy'))
    expect(await modern.request('tools/list', {})).toMatchObject({ cacheScope: 'private' })
    raw.lists.tools = [rawTool('read'), rawTool('extra', { description: 'Another' })]
    await team.restart('raw')
    await expect.poll(() => changes).toContain('notifications/tools/list_changed')
    expect((await allOf(client.tools()))[1]).toMatchObject({ name: 'extra', description: 'Another' })
  })
})

test('a caller that is bound to a profile sees no resources and no prompts', async () => {
  const raw = await rawUpstream({
    tools: [rawTool('read'), rawTool('write')],
    prompts: [{ name: 'ask' }],
    resources: [{ uri: 'file:///a', name: 'a' }],
  })
  raw.respond = () => ({ resultType: 'complete', contents: [{ uri: 'file:///a', text: 'x' }] })
  const profiles = { reader: { tools: { raw: 'r*' }, callers: 'bob' } }
  const team = gateway({ name: 'team', version: '1.0.0', upstreams: [at(raw, [])], profiles })
  const url = await served(team.endpoints['raw'] ?? team, { use: withTokens })
  const [ann, bob] = [await clientOf(url, {}, token('acme.ann')), await clientOf(url, {}, token('acme.bob'))]
  expect(await namesOf(ann.resources(), 'uri')).toEqual(['file:///a'])
  expect(await ann.request('resources/read', { uri: 'file:///a' })).toMatchObject({ contents: [{ text: 'x' }] })
  expect(await namesOf(bob.tools())).toEqual(['read'])
  expect(await namesOf(bob.resources(), 'uri')).toEqual([])
  expect(await namesOf(bob.prompts())).toEqual([])
  for (const uri of ['file:///a', 'file:///other'])
    await expect(bob.request('resources/read', { uri })).rejects.toThrow()
  const reader = await clientOf(
    await served(team.profiles['reader'] ?? team, { use: withTokens }),
    {},
    token('acme.ann'),
  )
  expect(await namesOf(reader.tools())).toEqual(['read'])
  expect(() =>
    gateway({ name: 'team', version: '1.0.0', upstreams: [at(raw, [])], profiles: { x: { tools: { rew: '*' } } } }),
  ).toThrow('profiles.x.tools.rew: unknown upstream; did you mean "raw"?')
})

test('the limit of the server holds for relayed results of every kind', async () => {
  const raw = await rawUpstream({
    prompts: [{ name: 'ask' }],
    resources: [{ uri: 'file:///a', name: 'a' }],
  })
  const long = 'x'.repeat(2000)
  raw.respond = ({ method }) =>
    method === 'tools/call'
      ? textResult(long)
      : method === 'prompts/get'
        ? { resultType: 'complete', messages: [{ role: 'user', content: { type: 'text', text: long } }] }
        : { resultType: 'complete', contents: [{ uri: 'file:///a', text: long }] }
  const { url } = await servedAlone(at(raw, [{ maxResultLength: 5000 }]), { use: withTokens, maxResultLength: 1000 })
  const client = await clientOf(url, {}, token('acme.ann'))
  expect(await client.callTool('echo')).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining('larger than 1000') }],
  })
  await expect(client.request('prompts/get', { name: 'ask' })).rejects.toThrow('larger than 1000')
  await expect(client.request('resources/read', { uri: 'file:///a' })).rejects.toThrow('larger than 1000')
})

test('a rate holds over all endpoints, and needs the limiter', async () => {
  const raw = await rawUpstream()
  const rules = [{ rate: { burst: 2, perSecond: 0.001 } }]
  const team = gateway({ name: 'team', version: '1.0.0', upstreams: [at(raw, rules)] })
  const endpoint = team.endpoints['raw'] ?? team
  expect(() => createServer(endpoint, { use: [log(silent)] })).toThrow('its rules need rateLimit()')
  const store = memoryStore()
  const use = [...withTokens, rateLimit()]
  const one = await clientOf(await served(endpoint, { store, use }), {}, token('acme.ann'))
  const all = await clientOf(await served(team, { store, use }), {}, token('acme.ann'))
  await one.callTool('echo')
  await all.callTool('raw_echo')
  await expect(one.callTool('echo')).rejects.toMatchObject({ data: { reason: 'rateLimited' } })
  await expect(all.callTool('raw_echo')).rejects.toMatchObject({ data: { reason: 'rateLimited' } })
})

test('stored definitions that lack the tool of a rule are listed again before the start fails', async () => {
  const raw = await rawUpstream()
  const store = memoryStore()
  const start = async (rules: readonly UpstreamRule[]): Promise<void> => {
    const team = gateway({ name: 'team', version: '1.0.0', upstreams: [{ ...at(raw, rules), isProcess: true }] })
    const server = createServer(team, { store, use: [log(silent)] })
    onTestFinished(() => server.close())
    await server.ready()
  }
  await start([])
  raw.lists.tools = [rawTool('echo'), rawTool('fresh')]
  await start([{ tools: 'fresh', allow: false }])
  await expect(start([{ tools: 'frehs', allow: false }])).rejects.toThrow(
    'upstream "raw", rules[0].tools: raw has no tool "frehs"; did you mean "fresh"?',
  )
})
