/** The official requester of tasks against our server: what it accepts, other clients will. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Caller, Params, Store, Tool } from 'sluice'
import { authenticate, defineServer } from 'sluice'
import type { Approvals, Decider } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createServer, serveHttp } from 'sluice/node'
import type { TasksOptions } from 'sluice/plugins'
import { log, tasks } from 'sluice/plugins'
import { sqliteStore } from 'sluice/sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { TaskClientOptions, TaskSession } from '../kit/clients/ext-tasks.client.ts'
import { connectTasks } from '../kit/clients/ext-tasks.client.ts'
import { taskTools } from '../kit/servers/tasks.fixture.ts'

const olga: Decider = { subject: 'olga', via: 'console', tenants: 'all', operator: true }
const callerOf = (subject: string): Caller => ({
  ...{ subject, credential: `token of ${subject}`, scopes: new Set<string>(), claims: {} },
  expires: Number.POSITIVE_INFINITY,
})

interface Serving {
  readonly url: string
  readonly port: number
  readonly approvals: Approvals
  stop(): Promise<void>
}

async function start(
  store: Store,
  tools: readonly Tool[],
  { port = 0, ...options }: TasksOptions & { readonly port?: number } = {},
): Promise<Serving> {
  const approvals = createApprovals({ store, approver: 'other' })
  const server = createServer(defineServer({ name: 'work', version: '1', tools }), {
    ...{ store, secret: 'a secret that all processes share' },
    use: [
      log({ info() {}, warn() {}, error() {} }),
      authenticate({ verifiers: [{ verify: async (token) => callerOf(token) }] }),
      tasks({ pollIntervalMs: 10, ...options }),
      approvals,
    ],
  })
  const listener = await serveHttp(server, { port })
  return { url: listener.url, port: Number(new URL(listener.url).port), approvals, stop: () => listener.close() }
}

interface Open extends Serving {
  readonly tools: ReturnType<typeof taskTools>
  readonly store: Store
  connect(more?: Partial<TaskClientOptions>): Promise<TaskSession>
}
async function open(options: TasksOptions = {}): Promise<Open> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ext-tasks-'))
  const store = sqliteStore(join(folder, 'store.db'))
  const tools = taskTools()
  const serving = await start(store, tools.tools, options)
  onTestFinished(async () => {
    await serving.stop()
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { ...serving, tools, store, connect: (more) => connectTasks({ url: serving.url, token: 'ann', ...more }) }
}
const textOf = (outcome: Params): unknown =>
  (outcome['result'] as { content?: readonly { text: string }[] } | undefined)?.content?.[0]?.text

test('it makes a task, polls it and takes the result; a plain tool is answered at once', async () => {
  const { tools, connect } = await open()
  const session = await connect()
  const work = tools.next()
  const execution = await session.callTool('slow')
  expect(execution.kind).toBe('task')
  await work.began
  work.end('done')
  const { outcome } = await execution.settle()
  expect(outcome).toMatchObject({ status: 'completed', result: { resultType: 'complete' } })
  expect(textOf(outcome)).toBe('done')
  const plain = await session.callTool('plain')
  expect(plain.kind).toBe('immediate')
  expect(textOf((await plain.settle()).outcome)).toBe('plain')
  await session.close()
})

test('a tool error is a result, and another error a failure with its code', async () => {
  const { connect } = await open()
  const session = await connect()
  const failing = await (await session.callTool('failing')).settle()
  expect(failing.outcome).toMatchObject({ status: 'completed', result: { isError: true } })
  const broken = await (await session.callTool('broken')).settle()
  expect(broken.outcome).toMatchObject({ status: 'failed', error: { code: 40300 } })
  await session.close()
})

test('questions during the work: it answers them, one by one and twice', async () => {
  const { connect } = await open()
  const asked: string[] = []
  const session = await connect({
    answer({ params }) {
      asked.push(String(params['message']))
      return { action: 'accept', content: { name: String(params['message']).toLowerCase() } }
    },
  })
  const { outcome } = await (await session.callTool('asking')).settle()
  expect(textOf(outcome)).toBe('who?, where?, when?')
  expect(asked.toSorted()).toEqual(['When?', 'Where?', 'Who?'])

  // By hand: a part of the answers, and the same update twice.
  const byHand = await connect()
  const execution = await byHand.callTool('asking')
  const taskId = execution.handle?.taskId ?? ''
  await execution.detach()
  const controller = byHand.task(taskId)
  const openKeys = async (): Promise<readonly string[]> => {
    const { raw } = (await controller.snapshot()) as { raw?: { inputRequests?: Params } }
    return Object.keys(raw?.inputRequests ?? {})
  }
  const accept = (name: string): Params => ({ action: 'accept', content: { name } })
  await expect.poll(openKeys).toEqual(['who.1'])
  for (let time = 0; time < 2; time++) await controller.updateJson({ 'who.1': accept('Ann') })
  await expect.poll(openKeys).toEqual(['where.2', 'when.2'])
  await controller.updateJson({ 'when.2': accept('now') })
  expect(await openKeys()).toEqual(['where.2'])
  await controller.updateJson({ 'where.2': accept('here'), 'when.2': accept('never') })
  await expect.poll(async () => (await controller.snapshot())['status']).toBe('completed')
  await Promise.all([session.close(), byHand.close()])
})

test('the client cancels a task', async () => {
  const { tools, connect } = await open()
  const session = await connect()
  const work = tools.next()
  const execution = await session.callTool('slow')
  await work.began
  await execution.cancel()
  expect((await execution.settle()).outcome).toMatchObject({ status: 'cancelled' })
  await expect.poll(() => work.signal?.aborted).toBe(true)
  await session.close()
})

test.each([
  ['approved', true, 'Paid 5'],
  ['denied', false, expect.stringContaining('Too dear')],
] as const)('%s, a call that needs an approval ends without a repeated call', async (_, approved, text) => {
  const { tools, approvals, connect } = await open()
  const sent: string[] = []
  const session = await connect({ watch: ({ method }) => sent.push(String(method)) })
  const execution = await session.callTool('pay', { amount: 5 })
  expect(execution.kind).toBe('task')
  const [ticket] = (await approvals.list({ status: 'pending' })).tickets
  await approvals.decide(ticket?.id ?? '', { approved, note: 'Too dear' }, olga)
  const { outcome } = await execution.settle()
  expect(textOf(outcome)).toEqual(text)
  expect(tools.runs).toEqual(approved ? ['pay 5'] : [])
  expect(sent.filter((method) => method === 'tools/call')).toHaveLength(1)
  await session.close()
})

test('a task is gone after its time', async () => {
  const { connect } = await open({ ttlMs: 300 })
  const session = await connect()
  const execution = await session.callTool('failing')
  await execution.settle()
  const controller = session.task(execution.handle?.taskId ?? '')
  await expect.poll(() => controller.snapshot().then(() => 'there', String)).toContain('unknown task')
  await session.close()
})

test('the process restarts while a task waits for its approval, and the client goes on', async () => {
  const { tools, store, port, stop, connect } = await open()
  const before = await connect()
  const execution = await before.callTool('pay', { amount: 5 })
  const reference = execution.serializeReference()
  await execution.detach()
  await before.close()
  await stop()
  const restarted = await start(store, tools.tools, { port })
  onTestFinished(() => restarted.stop())
  const [ticket] = (await restarted.approvals.list({ status: 'pending' })).tickets
  await restarted.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
  const after = await connect()
  const { outcome } = await (await after.resumeTask(reference)).settle()
  expect(textOf(outcome)).toBe('Paid 5')
  expect(tools.runs).toEqual(['pay 5'])
  await after.close()
})
