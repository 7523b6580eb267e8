/**
 * A real SBCL over HTTP, through the official clients: each caller has a key, and a person decides elsewhere. The test
 * owns the clock of the server; Lisp has its own.
 */

import { Client as ClientV2, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { apiKeys, authenticate, memoryStore, tenants } from 'sluice'
import type { ApprovalsOptions, Decider } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createServer, serveHttp } from 'sluice/node'
import { elicitation, idempotency } from 'sluice/plugins'
import { fakeClock } from 'sluice/testing'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import * as z from 'zod'
import { connectTo } from '../../../test/kit/clients/binary.client.ts'
import { createApp } from '../src/app.ts'
import { defineLisp } from '../src/definition.ts'
import type { Answer } from './server.fixture.ts'
import { folder, requestIn, textOf, withSbcl } from './server.fixture.ts'

beforeAll(withSbcl, 300_000)
const slowTest = { timeout: 120_000 }
const ann: Decider = { subject: 'ann', via: 'console', tenants: ['ann'], operator: false }

async function serveLisp(options: ApprovalsOptions = {}) {
  const clock = fakeClock(Date.parse('2026-11-16T12:00:00Z'))
  const store = memoryStore(clock)
  const keys = apiKeys(store, { clock })
  const desk = createApprovals({ store, clock, url: 'https://console.example', ...options })
  const sessions = createApp({ folder, env: process.env })
  const server = createServer(defineLisp(sessions), {
    ...{ store, clock },
    use: [authenticate({ verifiers: [keys] }), tenants({ claim: 'tenants' }), elicitation(), idempotency(), desk],
  })
  const { url, close } = await serveHttp(server, { port: 0 })
  onTestFinished(async () => {
    await close()
    await sessions.close()
  })
  const keyFor = async (name: string): Promise<string> => (await keys.create({ subject: name, tenants: [name] })).secret
  return { url, clock, desk, keyFor, connect: async (name: string) => connectTo(url, await keyFor(name)) }
}

type Serving = Awaited<ReturnType<typeof serveLisp>>

const callOf =
  (client: Client) =>
  async (name: string, args: object = {}): Promise<Answer> =>
    (await client.callTool({ name, arguments: { ...args } }, undefined, { timeout: 100_000 })) as unknown as Answer

/** Calls, lets Ann approve if she is asked, and calls again. */
const approving =
  ({ desk }: Serving, client: Client) =>
  async (name: string, args: object = {}): Promise<Answer> => {
    const call = callOf(client)
    const first = await call(name, args)
    const id = requestIn(first)
    if (id === undefined) return first
    await desk.decide(id, { approved: true }, ann)
    return call(name, args)
  }

test(
  "the document's workflow: the agent asks, cannot approve itself, and runs what a person approved, once",
  slowTest,
  async () => {
    const { connect, desk } = await serveLisp()
    const client = await connect('ann')
    const call = callOf(client)
    const args = { code: '(progn (defvar *runs* 0) (incf *runs*))' }
    const asked = await call('repl_eval', args)
    expect(JSON.parse(textOf(asked))).toMatchObject({
      approval_required: true,
      message: 'User approval required for tool: repl_eval',
    })
    const id = requestIn(asked) ?? ''
    const respond = { method: 'approval/respond', params: { request_id: id, approved: true } }
    await expect(client.request(respond, z.looseObject({}))).rejects.toThrow()
    expect(requestIn(await call('repl_eval', args))).toBe(id)

    await desk.decide(id, { approved: true }, ann)
    const again = { ...args, approval_request_id: id, approved: true }
    await expect(call('repl_eval', { ...again, code: '(delete-file "/etc/hosts")' })).rejects.toThrow(/approv/i)
    expect(textOf(await call('repl_eval', again))).toBe('=> 1')
    // The same answer again, without running it again.
    expect(textOf(await call('repl_eval', again))).toBe('=> 1')
    expect(textOf(await call('repl_inspect', { variable: '*runs*' }))).toMatch(/\b1\b/)
  },
)

test('on 2026-07-28 the client shows its user the page, and continues by itself', slowTest, async () => {
  const { url, keyFor, desk } = await serveLisp()
  const client = new ClientV2(
    { name: 'v2', version: '1' },
    { capabilities: { elicitation: { url: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    expect(params).toMatchObject({ mode: 'url', url: expect.stringMatching(/^https:\/\/console\.example\//) })
    const [ticket] = (await desk.list({ status: 'pending' })).tickets
    await desk.decide(ticket?.id ?? '', { approved: true }, ann)
    return { action: 'accept' }
  })
  const requestInit = { headers: { Authorization: `Bearer ${await keyFor('ann')}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  onTestFinished(() => client.close())
  const result = await client.callTool({ name: 'repl_eval', arguments: { code: '(+ 1 2)' } }, { timeout: 100_000 })
  expect(result).toMatchObject({ isError: false, structuredContent: { values: ['3'] } })
})

test('only the operator can waive the approval, and only for the tools in a rule', slowTest, async () => {
  const serving = await serveLisp({ rules: [{ tool: 'repl_eval', caller: 'ann', approval: 'never' }] })
  const ann = await serving.connect('ann')
  expect(textOf(await callOf(ann)('repl_eval', { code: '(* 6 7)' }))).toBe('=> 42')
  expect(requestIn(await callOf(ann)('repl_compile', { code: '1' }))).toBeTypeOf('string')
  expect(requestIn(await callOf(await serving.connect('bob'))('repl_eval', { code: '1' }))).toBeTypeOf('string')
  const { tools } = await ann.listTools()
  expect(tools.map(({ name }) => name).filter((name) => /whitelist|approv/.test(name))).toEqual([])
})

test('after its deadline a call is answered, and the Lisp thread itself stops', slowTest, async () => {
  const serving = await serveLisp()
  const client = await serving.connect('ann')
  const call = callOf(client)
  const approved = approving(serving, client)
  await approved('repl_eval', { code: '(defvar *n* 0) (defvar *ended* nil)' })
  const busy = approved('repl_eval', {
    code: '(unwind-protect (loop (incf *n*)) (setf *ended* (list :stopped-at *n*)))',
  })
  const read = async (variable: string): Promise<string> => textOf(await call('repl_inspect', { variable }))
  await expect.poll(() => read('*n*'), { timeout: 60_000 }).toMatch(/[1-9]/)
  expect(await read('*ended*')).toContain('NIL')

  await serving.clock.advance(30_000)
  const late = await busy
  expect(late).toMatchObject({ isError: true })
  expect(textOf(late)).toBe('No answer within 30000 ms')
  // The cleanup form has run, so the thread was unwound.
  await expect.poll(() => read('*ended*'), { timeout: 60_000 }).toMatch(/STOPPED-AT/)
  expect(await read('*n*')).toBe(await read('*n*'))
  // The same image, the same connection.
  expect(textOf(await approved('repl_eval', { code: '(first *ended*)' }))).toBe('=> :STOPPED-AT')
})

test('an error opens the debugger and closes nothing; an image that dies is reopened', slowTest, async () => {
  const serving = await serveLisp()
  const client = await serving.connect('ann')
  const approved = approving(serving, client)
  const failed = await approved('repl_eval', { code: '(restart-case (error "boom") (use-ten () 10))' })
  expect(failed).toMatchObject({ isError: true })
  expect(textOf(failed)).toMatch(/boom[\s\S]*0: \[USE-TEN\]/)
  expect(textOf(await callOf(client)('debugger_restarts'))).toContain('USE-TEN')
  expect(textOf(await approved('debugger_invoke_restart', { restart: 0 }))).toContain('10')
  expect(textOf(await approved('repl_eval', { code: '(sb-ext:exit :abort t)' }))).toContain('was lost')
  expect(textOf(await approved('repl_eval', { code: '(+ 20 1)' }))).toBe('=> 21')
  expect(await client.ping()).toEqual({})
})

test('two callers have separate images', slowTest, async () => {
  const serving = await serveLisp({ rules: [{ tool: 'repl_eval', approval: 'never' }] })
  const [ann, bob] = [callOf(await serving.connect('ann')), callOf(await serving.connect('bob'))]
  expect(textOf(await ann('repl_eval', { code: '(defparameter *mine* "of Ann")' }))).toContain('*MINE*')
  expect(textOf(await bob('repl_eval', { code: "(boundp '*mine*)" }))).toBe('=> NIL')
  expect(textOf(await bob('repl_inspect', { variable: '*mine*' }))).toContain('not a variable')
})
