/** Every feature of an upstream, in both eras of the upstream and of the client. */

import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SubscribeRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { ask, defineServer, prompt, resource, tool } from 'sluice'
import type { Upstream } from 'sluice/gateway-node'
import { fromSdk, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { describe, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { allOf, clientOf, eras, namesOf, servedAlone } from './kit.ts'
import { rawTool, rawUpstream, textResult } from './raw-upstream.ts'

const silent = { info() {}, warn() {}, error() {} }
const weather = { city: 'Oslo', degrees: 3 }

/** A server of 2025-11-25 with everything. */
function legacyServer(): McpServer {
  const server = new McpServer(
    { name: 'old', version: '1.2.3' },
    { instructions: 'Use it well', capabilities: { logging: {}, resources: { subscribe: true } } },
  )
  server.registerTool(
    'weather',
    {
      title: 'Weather',
      description: 'Tells the weather',
      inputSchema: { city: z.string() },
      outputSchema: { city: z.string(), degrees: z.number() },
      annotations: { readOnlyHint: true },
      _meta: { 'com.example/kept': 1 },
    },
    () => ({ content: [{ type: 'text', text: JSON.stringify(weather) }], structuredContent: weather }),
  )
  server.registerTool('talk', { description: 'Logs' }, async ({ sendNotification }) => {
    for (const level of ['debug', 'warning'] as const)
      await sendNotification({ method: 'notifications/message', params: { level, data: level } })
    return { content: [] }
  })
  server.registerResource('note', 'note://a', { title: 'A note', mimeType: 'text/plain' }, () => ({
    contents: [{ uri: 'note://a', text: 'hello' }],
  }))
  server.registerResource(
    'notes',
    new ResourceTemplate('note://all/{name}', {
      list: undefined,
      complete: { name: (value) => [`${value}1`, `${value}2`] },
    }),
    {},
    (uri) => ({ contents: [{ uri: uri.href, text: uri.href }] }),
  )
  server.registerPrompt(
    'greet',
    { description: 'Greets', argsSchema: { who: completable(z.string(), (value) => [`${value}a`]) } },
    ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello ${who}` } }] }),
  )
  const updates = (uri: string): void => {
    setTimeout(() => {
      server.server.sendResourceUpdated({ uri }).catch(() => {})
    }, 5)
  }
  server.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => {
    updates(params.uri)
    return {}
  })
  return server
}

/** The same in 2026-07-28. */
async function modernServer(): Promise<string> {
  const definition = defineServer({
    name: 'new',
    version: '1.2.3',
    instructions: 'Use it well',
    tools: [
      tool({
        name: 'weather',
        title: 'Weather',
        description: 'Tells the weather',
        input: z.object({ city: z.string() }),
        output: z.object({ city: z.string(), degrees: z.number() }),
        annotations: { readOnlyHint: true },
        meta: { 'com.example/kept': 1 },
        run: () => weather,
      }),
      tool({
        name: 'talk',
        description: 'Logs',
        run(_, context) {
          context.log('debug', 'debug')
          context.log('warning', 'warning')
          return []
        },
      }),
      tool({
        name: 'ask',
        description: 'Asks',
        ask: () => ({ who: ask.form('Who?', z.object({ name: z.string() })) }),
        run: (_, { answers }) => `Hello ${answers.who.name}`,
      }),
    ],
    resources: [
      resource({ uri: 'note://a', name: 'note', title: 'A note', mimeType: 'text/plain', read: () => 'hello' }),
      resource({
        uri: 'note://all/{name}',
        name: 'notes',
        complete: { name: (value) => [`${value}1`, `${value}2`] },
        read: ({ name }) => `note://all/${String(name)}`,
      }),
    ],
    prompts: [
      prompt({
        name: 'greet',
        description: 'Greets',
        input: z.object({ who: z.string() }),
        complete: { who: (value) => [`${value}a`] },
        run: ({ who }) => `Hello ${who}`,
      }),
    ],
  })
  const server = createServer(definition, { use: [log(silent)] })
  const serving = await serveHttp(server, { port: 0 })
  const timer = setInterval(() => server.resourceUpdated('note://a'), 20)
  onTestFinished(async () => {
    clearInterval(timer)
    await serving.close()
  })
  return serving.url
}

const rows: readonly (readonly [string, () => Promise<Upstream>])[] = [
  ['of 2025-11-25', async () => fromSdk({ name: 'files', scope: 'shared', create: legacyServer })],
  ['of 2026-07-28', async () => upstream({ name: 'files', scope: 'shared', url: await modernServer() })],
]

describe.each(rows)('an upstream %s', (_, open) => {
  describe.each(eras)('for a client of %s', (revision) => {
    test('keeps instructions, titles, annotations, output schemas and _meta', async () => {
      const { url } = await servedAlone(await open())
      const client = await clientOf(url, { revision })
      expect(client.agreement).toMatchObject({
        instructions: 'Use it well',
        serverInfo: { name: 'files', version: '1.2.3' },
      })
      const tools: unknown[] = []
      for await (const each of client.tools()) tools.push(each)
      expect(tools[0]).toMatchObject({
        title: 'Weather',
        annotations: { readOnlyHint: true },
        outputSchema: { properties: { degrees: { type: 'number' } } },
        _meta: { 'com.example/kept': 1 },
      })
      expect(await client.callTool('weather', { city: 'Oslo' })).toMatchObject({ structuredContent: weather })
    })

    test('serves resources and templates', async () => {
      const { url } = await servedAlone(await open())
      const client = await clientOf(url, { revision })
      expect(await namesOf(client.resources(), 'uri')).toEqual(['note://a'])
      expect(await namesOf(client.resourceTemplates(), 'uriTemplate')).toEqual(['note://all/{name}'])
      expect(await client.request('resources/read', { uri: 'note://a' })).toMatchObject({
        contents: [{ text: 'hello' }],
      })
      expect(await client.request('resources/read', { uri: 'note://all/x' })).toMatchObject({
        contents: [{ text: 'note://all/x' }],
      })
      await expect(client.request('resources/read', { uri: 'none://x' })).rejects.toMatchObject({
        code: revision === '2026-07-28' ? -32602 : -32002,
      })
    })

    test('serves prompts and completes arguments', async () => {
      const { url } = await servedAlone(await open())
      const client = await clientOf(url, { revision })
      expect(await namesOf(client.prompts())).toEqual(['greet'])
      expect(await client.request('prompts/get', { name: 'greet', arguments: { who: 'Ada' } })).toMatchObject({
        messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }],
      })
      const complete = async (ref: object, name: string): Promise<unknown> =>
        (await client.request('completion/complete', { ref, argument: { name, value: 'x' } }))['completion']
      expect(await complete({ type: 'ref/prompt', name: 'greet' }, 'who')).toMatchObject({ values: ['xa'] })
      expect(await complete({ type: 'ref/resource', uri: 'note://all/{name}' }, 'name')).toMatchObject({
        values: ['x1', 'x2'],
      })
    })

    test('passes on updates of resources that the client subscribed to', async () => {
      const { url } = await servedAlone(await open())
      const client = await clientOf(url, { revision })
      const updated = new Promise<unknown>((resolve, reject) => {
        const listener = {
          notification: (method: string, params: unknown): void => {
            if (method === 'notifications/resources/updated') resolve(params)
          },
        }
        client.subscribe({ resourceSubscriptions: ['note://a'] }, listener).catch(reject)
      })
      expect(await updated).toMatchObject({ uri: 'note://a' })
    })
  })
})

test.each(eras)(
  'a form of an upstream of 2026-07-28 is shown by a client of %s, which learns who asks',
  async (revision) => {
    const { url } = await servedAlone(upstream({ name: 'files', scope: 'shared', url: await modernServer() }))
    const messages: unknown[] = []
    const client = await clientOf(url, {
      revision,
      handlers: {
        form({ message }) {
          messages.push(message)
          return { action: 'accept', content: { name: 'Ada' } }
        },
      },
    })
    expect(await client.callTool('ask')).toMatchObject({ content: [{ text: 'Hello Ada' }] })
    expect(messages).toEqual(['files asks: Who?'])
  },
)

test.each(eras)('a client of %s that cannot be asked gets a refusal, not a hanging call', async (revision) => {
  const { url } = await servedAlone(upstream({ name: 'files', scope: 'shared', url: await modernServer() }))
  const client = await clientOf(url, { revision })
  const outcome = await client.callTool('ask').then(
    ({ isError }) => isError,
    () => 'refused',
  )
  expect([true, 'refused']).toContain(outcome)
})

test('members that no revision knows are passed on in definitions and results', async () => {
  const raw = await rawUpstream({ tools: [rawTool('echo', { 'x-future': { a: 1 } })] })
  raw.respond = () => textResult('hi', { 'x-future': 2 })
  const { url } = await servedAlone(upstream({ name: 'raw', scope: 'shared', url: raw.url }))
  const client = await clientOf(url)
  const [first] = await allOf(client.tools())
  expect(first).toMatchObject({ 'x-future': { a: 1 } })
  expect(await client.callTool('echo')).toMatchObject({ 'x-future': 2 })
})

test('arguments marked x-mcp-header reach the upstream as headers', async () => {
  const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } }
  const raw = await rawUpstream({ tools: [rawTool('deploy', { inputSchema })] })
  const { url } = await servedAlone(upstream({ name: 'raw', scope: 'shared', url: raw.url }))
  const client = await clientOf(url)
  await allOf(client.tools())
  await client.callTool('deploy', { region: 'eu' })
  const sent = raw.requests.find(({ method }) => method === 'tools/call')
  expect(sent?.headers).toMatchObject({ 'mcp-param-region': 'eu', 'mcp-name': 'deploy' })
})
