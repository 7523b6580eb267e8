/**
 * The Lisp document as written: every statement of its text, through its own entry point, with a real SBCL if code
 * runs. `lisp-003.test.ts` checks the same with `handle` and over the transports.
 */

import { readFileSync } from 'node:fs'
import type { Logger } from 'sluice'
import { defineServer, tool } from 'sluice'
import { createServer, nodeClock } from 'sluice/node'
import { log } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { openMessageHandler, toHandleMessage } from '../../servers/lisp/src/index.ts'
import { folder, withSbcl } from '../../servers/lisp/test/server.fixture.ts'
import { recordingLogger } from '../kit/servers/recording-logger.ts'

beforeAll(withSbcl, 300_000)

interface Response {
  readonly jsonrpc: '2.0'
  readonly id?: number | string
  readonly result?: {
    readonly content?: readonly { readonly text: string }[]
    readonly isError?: boolean
    readonly [member: string]: unknown
  }
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly [name: string]: unknown }
  }
}
type Send = (message: object | string) => Promise<Response | null>

const sending =
  (handleMessage: (text: string) => Promise<string | null>): Send =>
  async (message) => {
    const answer = await handleMessage(typeof message === 'string' ? message : JSON.stringify(message))
    return answer === null ? null : (JSON.parse(answer) as Response)
  }
const silent: Logger = { info() {}, warn() {}, error() {} }

/** The document's server, with a live image. */
async function lispServer(logger: Logger = silent): Promise<Send> {
  const { handleMessage, close } = await openMessageHandler({ folder, env: process.env, clock: nodeClock, logger })
  onTestFinished(close)
  return sending(handleMessage)
}
let ids = 0
const request = (method: string, params?: object): object => ({
  ...{ jsonrpc: '2.0', id: ++ids, method },
  ...(params && { params }),
})
const callOf = (name: string, args: object): object => request('tools/call', { name, arguments: args })
const textOf = (response: Response | null): string => response?.result?.content?.[0]?.text ?? ''

/** The statements of the document, by heading. */
const cases: { readonly [heading: string]: { readonly [name: string]: () => Promise<void> } } = {
  'Message Dispatch': {
    async 'a message with an id is a request, and is answered under it'() {
      const send = await lispServer()
      expect(await send({ jsonrpc: '2.0', id: 'a', method: 'ping' })).toMatchObject({ id: 'a', result: {} })
    },
    async 'a message without an id is a notification'() {
      const send = await lispServer()
      expect(await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).toBeNull()
    },
    async 'a message whose id is null is a notification'() {
      const send = await lispServer()
      expect(await send({ jsonrpc: '2.0', id: null, method: 'notifications/initialized' })).toBeNull()
    },
  },
  'Supported Methods': {
    async initialize() {
      const send = await lispServer()
      const params = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
      expect(await send(request('initialize', params))).toMatchObject({
        result: {
          protocolVersion: '2024-11-05',
          capabilities: {
            tools: { listChanged: true },
            resources: { listChanged: true },
            prompts: { listChanged: true },
          },
        },
      })
    },
    async ping() {
      expect(await (await lispServer())(request('ping'))).toHaveProperty('result')
    },
    async 'tools/list'() {
      const response = await (await lispServer())(request('tools/list'))
      expect(response?.result?.['tools']).toContainEqual(expect.objectContaining({ name: 'repl_eval' }))
    },
    async 'tools/call'() {
      const response = await (await lispServer())(callOf('repl_describe', { symbol: 'mapcar' }))
      expect(textOf(response)).toContain('MAPCAR')
    },
    async 'approval/respond'() {
      const send = await lispServer()
      const { request_id } = JSON.parse(textOf(await send(callOf('repl_eval', { code: '1' }))))
      expect(
        await send(request('approval/respond', { request_id, approved: false, message: 'not now' })),
      ).toMatchObject({
        result: { recorded: true, approved: false, message: 'not now' },
      })
    },
    async 'resources/list'() {
      const response = await (await lispServer())(request('resources/list'))
      expect(response?.result?.['resources']).toContainEqual(
        expect.objectContaining({ uri: 'file:///docs/getting-started.md', mimeType: 'text/markdown' }),
      )
    },
    async 'resources/read'() {
      const response = await (await lispServer())(request('resources/read', { uri: 'file:///docs/getting-started.md' }))
      expect(response?.result?.['contents']).toMatchObject([{ text: expect.stringMatching(/^# /) }])
    },
    async 'prompts/list'() {
      const response = await (await lispServer())(request('prompts/list'))
      expect(response?.result?.['prompts']).toContainEqual(expect.objectContaining({ name: 'debugging-workflow' }))
    },
    async 'prompts/get'() {
      const response = await (await lispServer())(request('prompts/get', { name: 'debugging-workflow' }))
      expect(response?.result?.['messages']).toHaveLength(1)
    },
  },
  'Tool Approval Workflow': {
    async 'step 1: called again with the id and approved: true, the approval is consumed and the tool runs'() {
      const send = await lispServer()
      const code = "(incf (get 'cl-user::runs :count 0))"
      const { request_id } = JSON.parse(textOf(await send(callOf('repl_eval', { code }))))
      expect(await send(request('approval/respond', { request_id, approved: true }))).toMatchObject({
        result: { recorded: true, approved: true },
      })
      const again = { code, approval_request_id: request_id, approved: true }
      expect(textOf(await send(callOf('repl_eval', again)))).toBe('=> 1')
      // Consumed: another call with this id does not run again.
      expect(textOf(await send(callOf('repl_eval', again)))).toBe('=> 1')
      expect(await send(callOf('repl_eval', { ...again, code: '(+ 2 2)' }))).toMatchObject({ error: { code: -32004 } })
    },
    async 'step 2: a tool that requires an approval answers approval_required, and does not run'() {
      const send = await lispServer()
      const response = await send(callOf('repl_eval', { code: '(defvar cl-user::*never* 1)' }))
      expect(response?.result?.isError).toBe(false)
      expect(JSON.parse(textOf(response))).toMatchObject({
        approval_required: true,
        request_id: expect.any(String),
        message: 'User approval required for tool: repl_eval',
      })
      expect(textOf(await send(callOf('repl_inspect', { variable: '*never*' })))).toContain('Symbol not found')
    },
    async 'step 3: a tool that requires none runs at once'() {
      expect(textOf(await (await lispServer())(callOf('repl_status', {})))).toContain('No image is open')
    },
  },
  'Parameter Validation': {
    async text() {
      expect(await refusal({ text: 5 })).toMatchObject({ code: -32602, data: { param: 'text' } })
    },
    async 'a list'() {
      expect(await refusal({ list: 'not a list' })).toMatchObject({ code: -32602, data: { param: 'list' } })
    },
    async 'an integer'() {
      expect(await refusal({ integer: 1.5 })).toMatchObject({ code: -32602, data: { param: 'integer' } })
    },
    async 'a boolean'() {
      expect(await refusal({ boolean: 'true' })).toMatchObject({ code: -32602, data: { param: 'boolean' } })
    },
  },
  'Error Responses': {
    async 'the standard codes, −32600 to −32603'() {
      const send = sending(toHandleMessage(validating()))
      expect(await send({ jsonrpc: '2.0', id: 1 })).toMatchObject({ error: { code: -32600 } })
      expect(await send(request('unknown'))).toMatchObject({ error: { code: -32601 } })
      expect(await send(request('tools/call', { arguments: {} }))).toMatchObject({ error: { code: -32602 } })
      expect(await send(callOf('broken', {}))).toMatchObject({ error: { code: -32603 } })
    },
    async 'codes of its own, −32000 to −32099'() {
      const send = await lispServer()
      const unknown = await send(request('approval/respond', { request_id: 'none', approved: true }))
      expect(unknown?.error?.code).toBeGreaterThanOrEqual(-32099)
      expect(unknown?.error?.code).toBeLessThanOrEqual(-32000)
    },
    async 'the details: code, hint, param, the least length, the least number'() {
      expect(await refusal({ text: 'x' })).toMatchObject({
        data: { code: expect.any(String), hint: expect.any(String), param: 'text', minLength: 2 },
      })
      expect(await refusal({ integer: 0 })).toMatchObject({ data: { param: 'integer', min: 1 } })
    },
  },
  'Timeout Handling': {
    async 'a tool has 30 seconds'() {
      const clock = fakeClock()
      let stopped = false
      const slow = tool({
        name: 'slow',
        description: 'Never ends by itself',
        run: (_, { signal }) =>
          new Promise<string>((_resolve, reject) => {
            signal.addEventListener('abort', () => {
              stopped = true
              reject(new Error('stopped'))
            })
          }),
      })
      const server = createServer(defineServer({ ...info, tools: [slow] }), { clock, errors: 'json-rpc' })
      const answer = sending(toHandleMessage(server))(callOf('slow', {}))
      await clock.advance(29_999)
      expect(stopped).toBe(false)
      await clock.advance(1)
      expect(await answer).toMatchObject({ error: { code: -32008 } })
      expect(stopped).toBe(true)
    },
  },
  'Error Recovery': {
    async 'an error is logged'() {
      const { logger, lines } = recordingLogger()
      await sending(toHandleMessage(validating(logger)))(callOf('broken', {}))
      expect(lines).toContainEqual(expect.objectContaining({ level: 'error', tool: 'broken' }))
    },
    async 'a request that failed is pending no more'() {
      const server = validating()
      await sending(toHandleMessage(server))(callOf('broken', {}))
      // Resolves when nothing is pending.
      await server.shutDown(60_000)
    },
  },
}

const info = { name: 'cl-tron-mcp', version: '0.1.0' }
function validating(logger: Logger = silent) {
  const check = tool({
    name: 'check',
    description: 'Takes one of each',
    input: z.object({
      text: z.string().min(2).optional(),
      list: z.array(z.string()).optional(),
      integer: z.int().min(1).optional(),
      boolean: z.boolean().optional(),
    }),
    run: () => 'valid',
  })
  const broken = tool({
    name: 'broken',
    description: 'Breaks',
    run() {
      throw new Error('The value NIL is not of type SWANK::CONNECTION')
    },
  })
  return createServer(defineServer({ ...info, tools: [check, broken] }), { errors: 'json-rpc', use: [log(logger)] })
}
async function refusal(args: object): Promise<unknown> {
  return (await sending(toHandleMessage(validating()))(callOf('check', args)))?.error
}

for (const [heading, named] of Object.entries(cases))
  describe(heading, () => {
    for (const [name, run] of Object.entries(named)) test(name, { timeout: 120_000 }, run)
  })

test('invalid JSON is answered, and so is the next message', async () => {
  const send = sending(toHandleMessage(validating()))
  expect(await send('{"jsonrpc"')).toMatchObject({ error: { code: -32700 } })
  expect(await send(callOf('check', {}))).toMatchObject({ result: { isError: false } })
})

test('an error leaves the image unchanged: what the document disconnects, a session keeps', {
  timeout: 120_000,
}, async () => {
  const send = await lispServer()
  await send(callOf('repl_describe', { symbol: 'car' }))
  await send(callOf('repl_describe', { symbol: 'no-such-symbol' }))
  await send(request('unknown'))
  expect(textOf(await send(callOf('repl_status', {})))).toContain('Connected to SBCL started by this server')
})

test('docs/documents.md says how many there are', () => {
  const text = readFileSync(new URL('../../docs/documents.md', import.meta.url), 'utf8')
  const [dispatch, methods, steps, kinds, errors, timeouts, recovery] = Object.values(cases).map(
    (named) => Object.keys(named).length,
  )
  expect(text).toContain(
    `003: ${dispatch} of 3 cases of dispatch, ${methods} of 9 methods, ${steps} of 3 approval steps, ${kinds} of 4 kinds of parameters pass as written. So do ${errors} of 3 parts of error responses, ${timeouts} of 1 timeout, ${recovery} of 4 steps of error recovery`,
  )
})
