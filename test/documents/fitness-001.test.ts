/**
 * The fitness platform's document on request handling: handshake, ping, lists, notifications, message checks and error
 * texts. `docs/documents.md` says where Sluice differs.
 *
 * Tested elsewhere: tokens in the header or in params, tenants, `user_id` and `tenant_id` in the log, and the TOON
 * format with their layers; WebSocket and SSE with their transports.
 */

import type { Layer, Server, ServerDefinition, ServerOptions } from 'sluice'
import { defineServer, fail, prompt, resource, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import pkg from '../../packages/sluice/package.json' with { type: 'json' }
import { aCallOf, aRequest, openHttp, openStdio, overStdio, transportsAfter } from '../kit/clients/scenario.client.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

const info = { name: 'pierre-mcp-server', version: pkg.version }
const secret = 'eyJhbGciOiJSUzI1NiJ9.secret'

const getActivities = tool({
  name: 'get_activities',
  description: 'List recent activities',
  input: z.object({ limit: z.int().min(1).default(10) }),
  run: ({ limit }) => ({ activities: [{ id: 'act_001', type: 'Run', distance: 5000 }].slice(0, limit) }),
})
const getAthlete = tool({ name: 'get_athlete', description: 'Who it is', run: () => 'Ada' })
const broken = tool({
  name: 'sync',
  description: 'Breaks',
  input: z.object({ token: z.string().optional() }),
  run() {
    throw new Error(`connection to postgres://pierre:${secret}@db failed`)
  },
})
/** Repeats its input to the model. */
const link = tool({
  name: 'link_provider',
  description: 'Connect a provider',
  input: z.object({
    token: z
      .string()
      .refine((token) => !token.startsWith('pk_test'), { error: ({ input }) => `${input} is a test key` }),
  }),
  run({ token }) {
    throw fail(`The provider refused ${token}`)
  },
})

const fitness: ServerDefinition = defineServer({
  ...info,
  tools: [getActivities, getAthlete, broken, link],
  resources: [
    resource({ uri: 'fitness://zones', name: 'Training zones', mimeType: 'text/plain', read: () => 'Z1 Z2 Z3' }),
    resource({
      uri: 'fitness://broken',
      name: 'Broken',
      read() {
        throw new Error(secret)
      },
    }),
  ],
  prompts: [
    prompt({ name: 'weekly-review', description: 'Look back on the week', run: () => 'How was my week?' }),
    prompt({
      name: 'broken',
      description: 'Breaks',
      run() {
        throw new Error(secret)
      },
    }),
  ],
})

const serve =
  (runtime: ServerOptions = {}, definition = fitness) =>
  (): Server =>
    createServer(definition, runtime)
const toolsOnly = serve({}, { ...info, tools: [getAthlete] })

/** The revision the document is about. */
const revision = '2025-06-18'
const overEveryTransport = transportsAfter(revision)
/** Before any other message. */
const asFirst = transportsAfter(null)
const hello = (protocolVersion?: unknown) =>
  aRequest('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'claude', version: '1' } })

describe('the handshake', () => {
  asFirst(
    'initialize answers with revision, capabilities, and the name and version of the server',
    serve(),
    async (send) => {
      expect(await send(hello(revision))).toEqual({
        jsonrpc: '2.0',
        id: 1,
        result: {
          protocolVersion: '2025-06-18',
          capabilities: {
            tools: { listChanged: true },
            resources: { subscribe: true, listChanged: true },
            prompts: { listChanged: true },
            logging: {},
          },
          serverInfo: { name: 'pierre-mcp-server', version: pkg.version },
        },
      })
    },
  )

  asFirst('a server declares only the capabilities it has', toolsOnly, async (send) => {
    expect((await send(hello(revision)))?.result?.['capabilities']).toEqual({
      tools: { listChanged: true },
      logging: {},
    })
  })

  for (const [asked, given] of [
    ['2024-11-05', '2024-11-05'],
    ['2025-03-26', '2025-03-26'],
    ['2025-06-18', '2025-06-18'],
    ['2025-11-25', '2025-11-25'],
    // Reached without a handshake, so it cannot be negotiated in one.
    ['2026-07-28', '2025-11-25'],
    ['1999-01-01', '2025-11-25'],
    [7, '2025-11-25'],
    [undefined, '2024-11-05'],
  ])
    asFirst(`a client that asks for revision ${asked} is offered ${given}`, serve(), async (send) => {
      expect((await send(hello(asked)))?.result?.['protocolVersion']).toBe(given)
    })

  test('a client is notified when the list of tools changes, as the capabilities say', async () => {
    const server = serve()()
    const { next, close } = await openStdio(server, revision)
    server.update({ ...fitness, tools: [getAthlete] })
    expect(await next()).toMatchObject({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    await close()
  })

  test('a client is notified when a subscribed resource changes, as the capabilities say', async () => {
    const server = serve()()
    const { write, next, close } = await openStdio(server, revision)
    write(aRequest('resources/subscribe', { uri: 'fitness://zones' }))
    expect(await next()).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    server.resourceUpdated('fitness://zones')
    expect(await next()).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/resources/updated',
      params: { uri: 'fitness://zones' },
    })
    await close()
  })
})

describe('methods', () => {
  overEveryTransport('ping is answered with an empty result', serve(), async (send) => {
    expect(await send(aRequest('ping', undefined, 'p-1'))).toEqual({ jsonrpc: '2.0', id: 'p-1', result: {} })
  })

  overEveryTransport('every caller may list the tools', serve(), async (send) => {
    const answer = await send(aRequest('tools/list'))
    expect(answer?.result).toMatchObject({
      tools: ['get_activities', 'get_athlete', 'sync', 'link_provider'].map((name) => ({ name })),
    })
  })

  test('a tool that needs a scope is in a public list only if its author listed it', async () => {
    const scoped = { description: 'Private', scopes: ['fitness:read'], run: () => 'never' }
    const tools = [tool({ ...scoped, name: 'shown', listed: true }), tool({ ...scoped, name: 'hidden' })]
    const server = createServer({ ...info, tools })
    expect(await server.handle(aRequest('tools/list'))).toMatchObject({ result: { tools: [{ name: 'shown' }] } })
    for (const name of ['hidden', 'made_up'])
      expect(await server.handle(aCallOf(name))).toMatchObject({
        error: { code: -32602, message: `Unknown tool: ${name}`, data: { available_tools: ['shown'] } },
      })
  })

  overEveryTransport('a tool that returns an object returns it as data and as JSON text', serve(), async (send) => {
    const activities = [{ id: 'act_001', type: 'Run', distance: 5000 }]
    expect((await send(aCallOf('get_activities', { limit: 5 })))?.result).toEqual({
      content: [{ type: 'text', text: JSON.stringify({ activities }) }],
      structuredContent: { activities },
      isError: false,
    })
  })

  overEveryTransport('a call without params is refused as invalid params', serve(), async (send) => {
    for (const params of [undefined, null])
      expect(await send({ ...aRequest('tools/call'), params })).toMatchObject({
        id: 1,
        error: { code: -32602, message: expect.stringMatching(/^Invalid params: /) },
      })
  })

  overEveryTransport('missing arguments count as empty, and null is refused', serve(), async (send) => {
    const answer = await send(aRequest('tools/call', { name: 'get_athlete' }))
    expect(answer?.result).toMatchObject({ content: [{ text: 'Ada' }], isError: false })
    expect(await send(aRequest('tools/call', { name: 'get_athlete', arguments: null }))).toMatchObject({
      error: { code: -32602, message: 'Invalid params: arguments must be an object' },
    })
  })

  overEveryTransport('resources and prompts are listed, read and got by their exact methods', serve(), async (send) => {
    expect(await send(aRequest('resources/list'))).toMatchObject({
      result: { resources: [{ uri: 'fitness://zones' }, {}] },
    })
    expect(await send(aRequest('resources/templates/list'))).toMatchObject({ result: { resourceTemplates: [] } })
    expect(await send(aRequest('resources/read', { uri: 'fitness://zones' }))).toMatchObject({
      result: { contents: [{ uri: 'fitness://zones', mimeType: 'text/plain', text: 'Z1 Z2 Z3' }] },
    })
    expect(await send(aRequest('prompts/list'))).toMatchObject({ result: { prompts: [{ name: 'weekly-review' }, {}] } })
    expect(await send(aRequest('prompts/get', { name: 'weekly-review' }))).toMatchObject({
      result: { messages: [{ role: 'user', content: { type: 'text', text: 'How was my week?' } }] },
    })
  })

  overEveryTransport(
    'other methods are not found: no prefix catches them, and no method signs in',
    serve(),
    async (send) => {
      for (const method of ['resources/anything', 'resources/', 'prompts/anything', 'authenticate', 'tools', 'pong'])
        expect(await send(aRequest(method))).toMatchObject({
          id: 1,
          error: { code: -32601, message: `Method not found: ${method}` },
        })
    },
  )

  overEveryTransport('a server without resources and prompts does not have their methods', toolsOnly, async (send) => {
    for (const method of ['resources/list', 'resources/read', 'prompts/list', 'prompts/get'])
      expect(await send(aRequest(method))).toMatchObject({ error: { code: -32601 } })
  })
})

describe('message checks', () => {
  overEveryTransport(
    'another version of JSON-RPC is refused with the actual and the expected version',
    serve(),
    async (send) => {
      for (const [jsonrpc, shown] of [
        ['1.0', "'1.0'"],
        ['2', "'2'"],
        ['', "''"],
        [2, 'number'],
        [undefined, 'undefined'],
        [null, 'object'],
      ])
        expect(await send({ ...aRequest('ping', undefined, 3), jsonrpc })).toMatchObject({
          jsonrpc: '2.0',
          id: 3,
          error: { code: -32600, message: `Invalid request: invalid JSON-RPC version: got ${shown}, expected '2.0'` },
        })
    },
  )

  overEveryTransport('an empty method is an invalid request, not a server error', serve(), async (send) => {
    expect(await send(aRequest(''))).toMatchObject({
      id: 1,
      error: { code: -32600, message: 'Invalid request: missing method field' },
    })
  })
})

describe('notifications', () => {
  const notifications = ['initialized', 'progress', 'cancelled', 'message', 'roots/list_changed', 'made/up']

  overEveryTransport('a notification is never answered, known or not', serve(), async (send) => {
    for (const name of notifications) expect(await send({ jsonrpc: '2.0', method: `notifications/${name}` })).toBeNull()
    expect(await send({ jsonrpc: '2.0', method: 'made/up' })).toBeNull()
  })

  test('over HTTP a notification is accepted with an empty response', async () => {
    const { post } = await openHttp(serve()(), revision)
    for (const name of notifications)
      expect(await post({ jsonrpc: '2.0', method: `notifications/${name}` })).toMatchObject({
        status: 202,
        answer: null,
      })
  })

  overEveryTransport(
    'the id makes a request, not the name: with an id a notification is an unknown method',
    serve(),
    async (send) => {
      expect(await send(aRequest('notifications/progress', {}, 8))).toMatchObject({ id: 8, error: { code: -32601 } })
    },
  )

  test('a cancelled call is not answered, and its tool is notified', async () => {
    let told = false
    const running = Promise.withResolvers<void>()
    const endless = tool({
      name: 'endless',
      description: 'Waits to be stopped',
      run: (_, { signal }) =>
        new Promise<string>((resolve) => {
          signal.addEventListener('abort', () => {
            told = true
            resolve('too late')
          })
          running.resolve()
        }),
    })
    const server = createServer({ ...info, tools: [endless] }, { clock: fakeClock() })
    const { write, received, close } = await openStdio(server, revision)
    write(aCallOf('endless', {}, 'long'))
    await running.promise
    write({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } })
    await close()
    expect({ told, heard: received }).toEqual({ told: true, heard: [] })
  })
})

describe('error texts', () => {
  const reference = expect.stringMatching(/^\S{8,}$/)

  overEveryTransport(
    'an exception is an internal error with a reference, and its text stays inside',
    serve(),
    async (send) => {
      for (const message of [
        aRequest('resources/read', { uri: 'fitness://broken' }),
        aRequest('prompts/get', { name: 'broken' }),
      ]) {
        const answer = await send(message)
        expect(answer?.error).toEqual({
          code: -32603,
          message: 'Internal error',
          data: { reason: 'internalError', reference },
        })
      }
      expect(JSON.stringify(await send(aCallOf('sync')))).not.toMatch(/postgres|secret|\.ts/)
    },
  )

  test('a custom layer that throws reveals nothing either', async () => {
    const breaking: Layer = () => () => Promise.reject(new Error(secret))
    const server = serve({ use: [customLayer(breaking)] })()
    for (const message of [aCallOf('get_athlete'), aRequest('ping'), aRequest('tools/list'), hello()])
      expect(await server.handle(message)).toMatchObject({ error: { code: -32603, message: 'Internal error' } })
  })

  overEveryTransport('every error has a reason and a reference', serve({ errors: 'json-rpc' }), async (send) => {
    for (const [message, reason] of [
      [aRequest('nope'), 'methodNotFound'],
      [aCallOf('nope'), 'unknownTool'],
      [aCallOf('sync'), 'toolCrashed'],
      [aCallOf('get_activities', { limit: 0 }), 'invalidArguments'],
      [aRequest('tools/call', {}), 'invalidParams'],
      [{}, 'invalidRequest'],
      [aRequest('resources/read', { uri: 'fitness://nope' }), 'resourceNotFound'],
    ] as const)
      expect((await send(message))?.error?.data).toMatchObject({ reason, reference })
  })

  test('the log has no arguments and no params, whatever the outcome', async () => {
    for (const errors of ['mcp', 'json-rpc'] as const) {
      const { logger, lines } = recordingLogger()
      const server = serve({ errors, use: [log(logger)] })()
      const token = 'pk_live_0123456789'
      for (const message of [
        aRequest('tools/call', { name: 'get_athlete', arguments: {}, token }),
        aCallOf('sync', { token }),
        aCallOf('link_provider', { token }),
        aCallOf('link_provider', { token: token.replace('live', 'test') }),
        aCallOf('get_activities', { limit: token }),
        aCallOf('get_athlete', { token }),
        aRequest('tools/call', { token }),
        aRequest('nope', { token }),
        { ...aRequest('ping', { token }), jsonrpc: '1.0' },
        { jsonrpc: '2.0', method: 'notifications/message', params: { token } },
      ])
        await server.handle(message)
      await overStdio(server, [`{"jsonrpc":"2.0","method":"ping","params":{"token":"${token}"`])
      expect(lines.length).toBeGreaterThanOrEqual(10)
      expect(JSON.stringify(lines)).not.toContain('0123456789')
    }
  })

  test('the log has method, id, tool, success and duration of a call', async () => {
    const { logger, lines } = recordingLogger()
    const clock = fakeClock()
    const slow = tool({ name: 'slow', description: 'Takes a while', run: () => clock.advance(250).then(() => 'done') })
    const server = createServer({ ...info, tools: [slow, broken] }, { clock, use: [log(logger)] })
    await server.handle(aCallOf('slow', {}, 1))
    await server.handle(aCallOf('sync', {}, 2))
    expect(lines).toMatchObject([
      { method: 'tools/call', id: 1, tool: 'slow', outcome: 'complete', durationMs: 250 },
      { method: 'tools/call', id: 2, tool: 'sync', outcome: 'toolCrashed', durationMs: 0 },
    ])
  })
})
