/** Names and URIs on the endpoint for all upstreams: each has one owner, and none is parsed. */

import { memoryStore } from 'sluice'
import { signIn } from 'sluice/gateway-auth'
import type { Upstream } from 'sluice/gateway-node'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { expect, test } from 'vitest'
import { allOf, clientOf, namesOf, servedAlone, servedGateway, token, withTokens } from './kit.ts'
import type { Members, RawUpstream } from './raw-upstream.ts'
import { rawTool, rawUpstream, textResult } from './raw-upstream.ts'

const at = (name: string, { url }: RawUpstream, more: Partial<Parameters<typeof upstream>[0]> = {}): Upstream =>
  upstream({ name, scope: 'shared', url, ...more })
const resource = (uri: string, more: Members = {}): Members => ({ uri, name: uri, ...more })
const reading = (raw: RawUpstream, text: string): void => {
  raw.respond = ({ params }) => ({ resultType: 'complete', contents: [{ uri: params['uri'], text }] })
}

test('a_b with c and a with b_c do not collide, because names of upstreams have no underscore', async () => {
  expect(() => upstream({ name: 'a_b', url: 'http://127.0.0.1/mcp' })).toThrow(/lower-case letters/)
  const [a, ab] = [await rawUpstream({ tools: [rawTool('b_c')] }), await rawUpstream({ tools: [rawTool('c')] })]
  const { url } = await servedGateway([at('a', a), at('a-b', ab)])
  expect(await namesOf((await clientOf(url)).tools())).toEqual(['a_b_c', 'a-b_c'])
})

test('a tool with the name by which callers sign in to another upstream is left out', async () => {
  const [a, b] = [await rawUpstream({ tools: [rawTool('b_sign_in'), rawTool('plain')] }), await rawUpstream()]
  const auth = signIn({ redirectUrl: 'http://127.0.0.1:1/sign-in/callback' })
  const { team, url } = await servedGateway(
    [
      upstream({ name: 'a', url: a.url, prefix: '' }),
      upstream({ name: 'b', url: b.url, auth, headers: { authorization: 'Bearer lists' } }),
    ],
    { use: withTokens },
  )
  const client = await clientOf(url, {}, token('acme.ann'))
  expect(await namesOf(client.tools())).toEqual(['plain', 'b_echo', 'b_sign_in'])
  expect(team.states()[0]?.leftOut).toMatchObject([{ name: 'b_sign_in', reason: 'callers sign in to b by this name' }])
})

test('names that clients refuse are left out with the reason, and the rest is listed', async () => {
  const raw = await rawUpstream({
    tools: [
      ...[rawTool('good'), rawTool('has space'), rawTool('ü'), rawTool('x'.repeat(129)), rawTool('good')],
      ...[{ name: 7 }, rawTool('schema', { inputSchema: { type: 'string' } })],
      rawTool('marked', {
        inputSchema: { type: 'object', properties: { a: { type: 'object', 'x-mcp-header': 'A' } } },
      }),
    ],
  })
  const { url, team } = await servedAlone(at('raw', raw))
  expect(await namesOf((await clientOf(url)).tools())).toEqual(['good'])
  const { leftOut = [] } = team.states()[0] ?? {}
  expect(leftOut.map(({ name }) => name)).toEqual([
    'has space',
    'ü',
    expect.any(String),
    'good',
    '7',
    'schema',
    'marked',
  ])
  expect(leftOut.every(({ reason }) => reason.length > 5)).toBe(true)
})

test('without a prefix the owner of a name keeps it, whatever another upstream lists later', async () => {
  const [first, second] = [await rawUpstream({ tools: [] }), await rawUpstream({ tools: [rawTool('search')] })]
  const { url, team } = await servedGateway([
    at('first', first, { prefix: '', trust: 'always' }),
    at('second', second, { prefix: '' }),
  ])
  const client = await clientOf(url)
  second.respond = () => textResult('second')
  first.lists.tools = [rawTool('search'), rawTool('other')]
  await expect.poll(() => first.listening).toBe(1)
  first.announce()
  await expect.poll(() => namesOf(client.tools()), { timeout: 5000 }).toEqual(['other', 'search'])
  expect(await client.callTool('search')).toMatchObject({ content: [{ text: 'second' }] })
  expect(team.states()[0]?.leftOut).toEqual([
    { kind: 'tool', name: 'search', reason: 'not on the endpoint for all: second has it too' },
  ])
})

test('after a restart the owner of a name keeps it, even if another upstream is listed first', async () => {
  const search = (): ReturnType<typeof rawUpstream> => rawUpstream({ tools: [rawTool('search')] })
  const [owner, other] = [await search(), await search()]
  owner.respond = () => textResult('owner')
  other.respond = () => textResult('other')
  const upstreams = [at('other', other, { prefix: '' }), at('owner', owner, { prefix: '' })]
  const store = memoryStore()
  /** One run of the gateway on the store. Returns what its tool answers. */
  async function run(): Promise<unknown> {
    const server = createServer(gateway({ name: 'team', version: '1.0.0', startMs: 200, upstreams }), {
      ...{ store, use: [log({ info() {}, warn() {}, error() {} })] },
    })
    const serving = await serveHttp(server, { port: 0 })
    const client = await clientOf(serving.url)
    const listed = await namesOf(client.tools())
    const { content } = listed.includes('search') ? await client.callTool('search') : { content: 'not listed' }
    await serving.close()
    return content
  }
  await other.stop()
  expect(await run()).toMatchObject([{ text: 'owner' }])
  await other.start()
  expect(await run()).toMatchObject([{ text: 'owner' }])
  // An owner that is down and forgotten still has its names.
  await owner.stop()
  for (const { key } of await store.list(['gateway', 'team', 'definitions', 'owner'], { limit: 10 }))
    await store.delete(key)
  expect(await run()).toBe('not listed')
})

test('equal URIs of two upstreams are not merged: the first keeps it, and the other serves it alone', async () => {
  const [first, second] = [
    await rawUpstream({ resources: [resource('note://x'), resource('note://first')] }),
    await rawUpstream({ resources: [resource('note://x'), resource('note://second')] }),
  ]
  reading(first, 'first')
  reading(second, 'second')
  const { url } = await servedGateway([at('first', first), at('second', second)])
  const client = await clientOf(url)
  expect(await namesOf(client.resources(), 'uri')).toEqual(['note://x', 'note://first', 'note://second'])
  const read = async (uri: string): Promise<unknown> => (await client.request('resources/read', { uri }))['contents']
  expect(await read('note://x')).toMatchObject([{ text: 'first' }])
  expect(await read('note://second')).toMatchObject([{ text: 'second' }])
  const alone = await clientOf((await servedAlone(at('second', second))).url)
  expect(await alone.request('resources/read', { uri: 'note://x' })).toMatchObject({ contents: [{ text: 'second' }] })
})

test('a later list cannot claim a URI of another upstream, nor one that its template covers', async () => {
  const owner = await rawUpstream({
    resources: [resource('note://a')],
    resourceTemplates: [{ uriTemplate: 'note://all/{id}', name: 'notes' }],
  })
  const thief = await rawUpstream()
  reading(owner, 'owner')
  reading(thief, 'thief')
  const { url, team } = await servedGateway([at('thief', thief, { trust: 'always' }), at('owner', owner)])
  const client = await clientOf(url)
  await expect.poll(() => thief.listening).toBe(1)
  thief.lists.resources = [resource('note://a'), resource('note://all/1'), resource('mine://a')]
  thief.lists.resourceTemplates = [
    { uriTemplate: '{+any}', name: 'everything' },
    { uriTemplate: 'note:{+any}', name: 'wider' },
    { uriTemplate: 'mine://{id}', name: 'mine' },
  ]
  thief.announce('resources')
  await expect.poll(() => namesOf(client.resources(), 'uri'), { timeout: 5000 }).toEqual(['mine://a', 'note://a'])
  expect(await namesOf(client.resourceTemplates(), 'uriTemplate')).toEqual(['mine://{id}', 'note://all/{id}'])
  for (const uri of ['note://a', 'note://all/1'])
    expect(await client.request('resources/read', { uri })).toMatchObject({ contents: [{ text: 'owner' }] })
  expect(
    team
      .states()[0]
      ?.leftOut.map(({ name }) => name)
      .sort(),
  ).toEqual(['note://a', 'note://all/1', 'note:{+any}', '{+any}'].sort())
})

test('a link to a resource that no list has can be read where it came from', async () => {
  const [first, second] = [await rawUpstream({ tools: [rawTool('make')] }), await rawUpstream()]
  first.respond = ({ method, params }) =>
    method === 'tools/call'
      ? { resultType: 'complete', content: [{ type: 'resource_link', uri: 'made://1', name: 'made' }] }
      : { resultType: 'complete', contents: [{ uri: params['uri'], text: 'made here' }] }
  const { url } = await servedGateway([at('first', first), at('second', second)])
  const client = await clientOf(url)
  await expect(client.request('resources/read', { uri: 'made://1' })).rejects.toMatchObject({ code: -32602 })
  await client.callTool('first_make')
  expect(await client.request('resources/read', { uri: 'made://1' })).toMatchObject({
    contents: [{ text: 'made here' }],
  })
})

test('a link to a URI of another upstream becomes text', async () => {
  const owner = await rawUpstream({ resources: [resource('note://a')] })
  const other = await rawUpstream({ tools: [rawTool('link')] })
  other.respond = () => ({
    resultType: 'complete',
    content: [{ type: 'resource_link', uri: 'note://a', name: 'mine' }],
  })
  const { url } = await servedGateway([at('owner', owner), at('other', other)])
  const { content } = await (await clientOf(url)).callTool('other_link')
  expect(content).toEqual([{ type: 'text', text: 'mine: note://a (of other)' }])
})

test('the page of an app is named only by tools of the upstream that has it', async () => {
  const page = { _meta: { ui: { resourceUri: 'ui://page' }, 'com.example/kept': 1 } }
  const owner = await rawUpstream({ tools: [rawTool('show', page)], resources: [resource('ui://page')] })
  const other = await rawUpstream({ tools: [rawTool('see', page)] })
  const { url } = await servedGateway([at('owner', owner, { prefix: '' }), at('other', other, { prefix: '' })])
  const client = await clientOf(url)
  expect(await namesOf(client.tools(), '_meta')).toEqual([page._meta, { 'com.example/kept': 1 }])
  const alone = await clientOf((await servedAlone(at('owner', owner))).url)
  expect(await allOf(alone.tools())).toMatchObject([{ name: 'show', ...page }])
})

test('a URI may be listed as a resource and as a template without variables', async () => {
  const raw = await rawUpstream({
    resources: [resource('git://here')],
    resourceTemplates: [{ uriTemplate: 'git://here', name: 'again' }],
  })
  reading(raw, 'here')
  for (const { url } of [await servedAlone(at('raw', raw)), await servedGateway([at('raw', raw)])]) {
    const client = await clientOf(url)
    expect(await namesOf(client.resources(), 'uri')).toEqual(['git://here'])
    expect(await namesOf(client.resourceTemplates(), 'uriTemplate')).toEqual(['git://here'])
    expect(await client.request('resources/read', { uri: 'git://here' })).toMatchObject({
      contents: [{ text: 'here' }],
    })
  }
})
