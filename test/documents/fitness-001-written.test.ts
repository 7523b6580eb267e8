/**
 * The fitness document as written: its examples and the statements of its sections, through its own entry points.
 * `fitness-001.test.ts` checks the same with `handle` and over the transports.
 */

import { readFileSync } from 'node:fs'
import type { ServerOptions } from 'sluice'
import {
  apiKeys,
  authenticate,
  createServer,
  defineServer,
  fail,
  memoryStore,
  prompt,
  resource,
  tenants,
  tool,
} from 'sluice'
import { nodeClock } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { formatOutput, openRequestProcessor, toProcessRequest } from '../../servers/fitness/src/index.ts'
import { aFolder } from '../../servers/fitness/test/server.fixture.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

const activities = [{ id: 'act_001', type: 'Run', distance: 5000 }]
/** The document's server, under its name. */
const pierre = defineServer({
  name: 'pierre-mcp-server',
  version: '0.1.0',
  tools: [
    tool({
      name: 'get_activities',
      description: 'List recent activities',
      input: z.object({ limit: z.int().optional() }),
      run: () => ({ activities }),
    }),
    tool({
      name: 'sync',
      description: 'Breaks',
      run() {
        throw new Error('postgres://pierre:secret@db')
      },
    }),
    tool({
      name: 'refuse',
      description: 'Refuses',
      run() {
        throw fail('No such athlete')
      },
    }),
  ],
  resources: [resource({ uri: 'fitness://zones', name: 'zones', read: () => 'Z1' })],
  prompts: [prompt({ name: 'review', description: 'Look back', run: () => 'How was it?' })],
})
const processing = (runtime: ServerOptions = {}) => {
  const server = createServer(pierre, { errors: 'json-rpc', ...runtime })
  onTestFinished(() => server.close())
  return toProcessRequest(server)
}
const request = (method: string, params?: object, id: unknown = 1): object => ({
  ...{ jsonrpc: '2.0', method, id },
  ...(params && { params }),
})
const callOf = (name: string, args?: unknown): object => request('tools/call', { name, arguments: args })

/** Its examples. */
const examples: { readonly [name: string]: () => Promise<void> } = {
  async 'Initialize: the response structure'() {
    expect(await processing()(request('initialize'))).toEqual({
      jsonrpc: '2.0',
      result: {
        protocolVersion: '2025-06-18',
        capabilities: {
          tools: { listChanged: true },
          resources: { subscribe: true, listChanged: true },
          prompts: { listChanged: true },
        },
        serverInfo: { name: 'pierre-mcp-server', version: '0.1.0' },
      },
      id: 1,
    })
  },
  async 'Ping: an empty result'() {
    expect(await processing()(request('ping'))).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
  },
  async 'tools/list: every tool'() {
    expect(await processing()(request('tools/list'))).toMatchObject({
      result: { tools: [{ name: 'get_activities' }, { name: 'sync' }, { name: 'refuse' }] },
    })
  },
  async 'tools/call: the tool that params name, with its arguments'() {
    expect(await processing()(callOf('get_activities', { limit: 1 }))).toMatchObject({
      id: 1,
      result: { structuredContent: { activities } },
    })
  },
  async 'Usage in tools: data and content type in the requested format'() {
    const output = formatOutput({ activities }, 'toon')
    expect(output).toEqual({
      data: 'activities[1]{id,type,distance}:\n  act_001,Run,5000',
      content_type: 'application/vnd.toon',
    })
  },
  async 'Format comparison: the JSON form, and fewer characters in TOON'() {
    const { data } = formatOutput({ activities })
    expect(data).toBe('{"activities":[{"id":"act_001","type":"Run","distance":5000}]}')
    const many = { activities: Array.from({ length: 100 }, () => activities[0]) }
    expect(formatOutput(many, 'toon').data.length).toBeLessThan(formatOutput(many).data.length * 0.6)
  },
}
describe('its examples', () => {
  for (const [name, check] of Object.entries(examples)) test(name, check)
})

/** The statements of its sections. */
const cases: { readonly [name: string]: () => Promise<void> } = {
  async 'jsonrpc must be exactly "2.0"'() {
    expect(await processing()({ ...request('ping'), jsonrpc: '1.0' })).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32603, message: "Internal server error: Invalid JSON-RPC version: got '1.0', expected '2.0'" },
    })
  },
  async 'method must not be an empty string'() {
    expect(await processing()(request(''))).toMatchObject({
      error: { code: -32603, message: 'Internal server error: Missing method' },
    })
  },
  async 'other fields are optional'() {
    expect(await processing()({ jsonrpc: '2.0', method: 'ping' })).toEqual({ jsonrpc: '2.0', result: {} })
  },
  async 'tools/call without params'() {
    expect(await processing()(request('tools/call'))).toMatchObject({
      error: { code: -32603, message: 'Internal server error: Missing parameters for tools/call' },
    })
  },
  async 'arguments may be null'() {
    expect(await processing()(callOf('get_activities', null))).toMatchObject({ result: { isError: false } })
  },
  async 'a prefix matches all methods below resources/ and prompts/'() {
    const process = processing()
    expect(await process(request('resources/list'))).toMatchObject({ result: { resources: [{ name: 'zones' }] } })
    expect(await process(request('resources/anything'))).toMatchObject({ result: { resources: [] } })
    expect(await process(request('prompts/anything'))).toMatchObject({ result: { prompts: [] } })
  },
  async 'the fallback is method not found'() {
    expect(await processing()(request('made/up'))).toMatchObject({ error: { code: -32601 } })
  },
  async 'what begins with notifications/ has no response'() {
    const process = processing()
    for (const name of ['progress', 'cancelled', 'message', 'made-up'])
      for (const id of [undefined, 7]) expect(await process(request(`notifications/${name}`, {}, id))).toBeNull()
  },
  async 'tools/list needs no authentication, tools/call does'() {
    const keys = apiKeys(memoryStore())
    const publicMethods = ['initialize', 'ping', 'tools/list']
    const process = processing({ use: [authenticate({ verifiers: [keys], publicMethods })] })
    expect(await process(request('tools/list'))).toHaveProperty('result')
    expect(await process(callOf('get_activities'))).toMatchObject({ error: { code: -32001 } })
  },
  async 'the token comes from the header first, then from params'() {
    const keys = apiKeys(memoryStore())
    const process = processing({ use: [authenticate({ verifiers: [keys] })] })
    const { secret } = await keys.create({ subject: 'anna' })
    const inParams = (token: string): object => request('tools/call', { name: 'get_activities', arguments: {}, token })
    const header = (token: string) => ({ authorization: `Bearer ${token}` })
    expect(await process(callOf('get_activities'), header(secret))).toHaveProperty('result')
    expect(await process({ ...callOf('get_activities'), auth_token: secret })).toHaveProperty('result')
    expect(await process(inParams(secret))).toHaveProperty('result')
    expect(await process(inParams(secret), header('wrong'))).toMatchObject({ error: { code: -32001 } })
  },
  async 'a call is its tenant’s'() {
    const keys = apiKeys(memoryStore())
    const { logger, lines } = recordingLogger()
    const process = processing({
      use: [authenticate({ verifiers: [keys] }), tenants({ claim: 'tenants' }), log(logger)],
    })
    const { secret } = await keys.create({ subject: 'anna', tenants: ['team-a'] })
    await process(callOf('get_activities'), { authorization: `Bearer ${secret}` })
    expect(lines).toContainEqual(expect.objectContaining({ caller: 'anna', tenant: 'team-a' }))
  },
  async 'method, id, tool, success and duration are in the log'() {
    const { logger, lines } = recordingLogger()
    await processing({ clock: fakeClock(), use: [log(logger)] })(callOf('get_activities'))
    expect(lines).toContainEqual(
      expect.objectContaining({
        method: 'tools/call',
        id: 1,
        tool: 'get_activities',
        outcome: 'complete',
        durationMs: 0,
      }),
    )
  },
  async 'a request that fails is answered with an error under its id'() {
    for (const name of ['sync', 'made_up'])
      expect(await processing()(callOf(name))).toMatchObject({ id: 1, error: { code: expect.any(Number) } })
    expect(await processing()('no object')).toMatchObject({ error: { code: -32603 } })
  },
  async 'formats are parsed without regard to case, and unknown ones are JSON'() {
    expect(formatOutput({ activities }, 'TOON').content_type).toBe('application/vnd.toon')
    for (const format of ['json', 'JSON', 'xml', ''])
      expect(formatOutput({ activities }, format).content_type).toBe('application/json')
  },
}
describe('the statements of its sections', () => {
  for (const [name, check] of Object.entries(cases)) test(name, check)
})

test('its one statement that does not hold: the text of an exception does not reach the client', async () => {
  expect(JSON.stringify(await processing()(callOf('sync')))).not.toContain('postgres')
  expect(await processing()(request('authenticate'))).toMatchObject({ error: { code: -32601 } })
})

test('docs/documents.md says how many there are', () => {
  const text = readFileSync(new URL('../../docs/documents.md', import.meta.url), 'utf8')
  const [shown, kept] = [examples, cases].map((named) => Object.keys(named).length)
  expect(text).toContain(`001: ${shown} of 6 examples, ${kept} of 16 statements`)
})

test('the fitness server itself is behind it', async () => {
  const logger = { info() {}, warn() {}, error() {} }
  const { processRequest, close } = await openRequestProcessor({ folder: aFolder(), env: {}, clock: nodeClock, logger })
  onTestFinished(close)
  expect(await processRequest(request('initialize'))).toMatchObject({
    result: { serverInfo: { name: 'fitness' }, protocolVersion: '2025-06-18' },
  })
  await processRequest(callOf('connect_provider', { provider: 'synthetic' }))
  expect(await processRequest(callOf('get_activities', { limit: 2, output_format: 'toon' }))).toMatchObject({
    result: { content: [{ text: expect.stringContaining('count: 2') }] },
  })
})
