/** What the official suite leaves out: several processes, questions, approvals and subscriptions, on every store. */

import { setImmediate } from 'node:timers/promises'
import type { Params, Tool } from 'sluice'
import { tool } from 'sluice'
import { rateLimit } from 'sluice/plugins'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { GatedTasksFixture, TasksFixture, TasksFixtureOptions } from '../kit/servers/tasks.fixture.ts'
import { olga, openGatedTasks, openTasks, taskTools, withTasks } from '../kit/servers/tasks.fixture.ts'
import type { InTaskWorld, TaskWorld } from './worlds.ts'
import { inMemory, inSqlite, startPostgresTaskWorlds, startRedisTaskWorlds } from './worlds.ts'

let inRedis: InTaskWorld
let inPostgres: InTaskWorld
const stops: (() => Promise<void>)[] = []
beforeAll(async () => {
  const [redis, postgres] = [await startRedisTaskWorlds(), await startPostgresTaskWorlds()]
  inRedis = redis.inWorld
  inPostgres = postgres.inWorld
  stops.push(redis.stop, postgres.stop)
})
afterAll(() => Promise.all(stops.map((stop) => stop())))

const stores: readonly [string, InTaskWorld][] = [
  ['memory', (work) => inMemory(work)],
  ['SQLite', (work) => inSqlite(work)],
  ['Redis', (work) => inRedis(work)],
  ['PostgreSQL', (work) => inPostgres(work)],
]

/** Lets everything that waits for the store go on, without moving the clock. */
const settled = async (isDone: () => boolean | Promise<boolean>): Promise<void> => {
  for (let turn = 0; turn < 100_000; turn++) {
    if (await isDone()) return
    await setImmediate()
  }
  throw new Error('It did not settle')
}
/** Waits until all processes wait. What one has written can be read before it continues. */
async function idle({ isIdle }: TaskWorld): Promise<void> {
  for (let idleTurns = 0; idleTurns < 10; idleTurns = isIdle() ? idleTurns + 1 : 0) await setImmediate()
}
/** Moves the clock in steps, because a shared store answers turns of the event loop later. */
async function pass(world: TaskWorld, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5_000) {
    await world.clock.advance(Math.min(5_000, left))
    await idle(world)
  }
}
const reaches = (process: TasksFixture, taskId: unknown, status: string): Promise<void> =>
  settled(async () => (await process.get(taskId))['status'] === status)

const accept = (name: string): Params => ({ action: 'accept', content: { name } })

describe.each(stores)('on %s', (_, inWorld) => {
  const open = (world: TaskWorld, more: TasksFixtureOptions = {}): TasksFixture => openTasks({ ...world, ...more })
  const gated = (world: TaskWorld, tools: readonly Tool[]): GatedTasksFixture => openGatedTasks({ ...world, tools })

  test('a task is found by every process at once, and by no other caller', () =>
    inWorld(async (world) => {
      const [one, other] = [open(world), open(world)]
      const { taskId } = await one.call('slow')
      expect(await other.get(taskId)).toMatchObject({ taskId, status: 'working' })
      expect(await other.get(taskId, { as: 'bob' })).toMatchObject({ code: -32602 })
    }))

  test('questions during the work: every key is new, answers may be partial, repeated and unknown', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [open(world, tools), open(world, tools)]
      const { taskId } = await one.call('asking')
      const questions = async (): Promise<readonly string[]> =>
        Object.keys(((await other.get(taskId))['inputRequests'] as Params | undefined) ?? {})
      const answer = (inputResponses: Params): Promise<Params> => other.send('tasks/update', { taskId, inputResponses })
      await settled(async () => (await questions()).length === 1)
      await idle(world)
      expect(await other.get(taskId)).toMatchObject({
        status: 'input_required',
        inputRequests: { 'who.1': { method: 'elicitation/create', params: { message: 'Who?', mode: 'form' } } },
      })
      expect(Object.keys(await answer({ 'unknown-key': { ignored: true } })).sort()).toEqual(['_meta', 'resultType'])
      // Of the wrong shape: asked for again, under another key.
      await answer({ 'who.1': { action: 'accept', content: { name: 7 } } })
      expect(await other.get(taskId)).toMatchObject({ status: 'working' })
      await pass(world, 5_000)
      await settled(async () => (await questions()).includes('who.2'))
      await answer({ 'who.2': accept('Ann'), 'who.1': accept('late') })
      await answer({ 'who.2': accept('Eve') })
      await pass(world, 5_000)
      await settled(async () => (await questions()).length === 2)
      expect(await questions()).toEqual(['where.3', 'when.3'])
      await answer({ 'when.3': accept('now') })
      expect(await questions()).toEqual(['where.3'])
      await answer({ 'where.3': accept('here'), 'when.3': accept('never') })
      await pass(world, 5_000)
      await reaches(other, taskId, 'completed')
      expect(await other.get(taskId)).toMatchObject({ result: { content: [{ text: 'Ann, here, now' }] } })
      expect(tools.runs).toEqual(['asking'])
    }))

  test('a person who declines ends the work with a tool error', () =>
    inWorld(async (world) => {
      const one = open(world)
      const { taskId } = await one.call('asking')
      await reaches(one, taskId, 'input_required')
      await one.send('tasks/update', { taskId, inputResponses: { 'who.1': { action: 'decline' } } })
      await pass(world, 5_000)
      await reaches(one, taskId, 'completed')
      expect(await one.get(taskId)).toMatchObject({
        result: { isError: true, content: [{ text: 'The person declined.' }] },
      })
    }))

  test('questions before the work come first, without a task; the round that makes the task has no state', () =>
    inWorld(async (world) => {
      const one = open(world)
      const asked = await one.call('first')
      expect(asked).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) })
      expect(asked).not.toHaveProperty('taskId')
      const more = { requestState: asked['requestState'], inputResponses: { who: accept('Alice') } }
      const created = await one.call('first', {}, { more })
      expect(created).toMatchObject({ resultType: 'task' })
      expect(created).not.toHaveProperty('requestState')
      await reaches(one, created['taskId'], 'completed')
      expect(await one.get(created['taskId'])).toMatchObject({ result: { content: [{ text: 'Hello, Alice' }] } })
    }))

  test('cancelled through another process, the work is stopped within seconds', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [open(world, tools), open(world, tools)]
      const work = tools.next()
      const { taskId } = await one.call('slow')
      await work.began
      await other.send('tasks/cancel', { taskId })
      expect(await other.get(taskId)).toMatchObject({ status: 'cancelled' })
      expect(work.signal?.aborted).toBe(false)
      await pass(world, 5_000)
      await settled(() => work.signal?.aborted === true)
    }))

  test('a task whose process is gone fails, in doubt, and never runs again', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [open(world, tools), open(world, tools)]
      const work = tools.next()
      const { taskId } = await one.call('slow')
      await work.began
      one.kill()
      expect(await other.get(taskId)).toMatchObject({ status: 'working' })
      await pass(world, 20_000)
      const failed = await other.get(taskId)
      expect(failed).toMatchObject({ status: 'failed', error: { code: -32603, data: { state: 'in doubt' } } })
      expect(await open(world, tools).get(taskId)).toEqual(failed)
      work.end('too late')
      await pass(world, 60_000)
      expect(await other.get(taskId)).toEqual(failed)
      expect(tools.runs).toEqual(['slow'])
    }))

  test('a long task is not in doubt for as long as its process lives', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [open(world, tools), open(world, tools)]
      const work = tools.next()
      const { taskId } = await one.call('slow')
      await work.began
      await pass(world, 120_000)
      expect(await other.get(taskId)).toMatchObject({ status: 'working' })
      work.end('done')
      await reaches(other, taskId, 'completed')
    }))

  test('an approval is a task: the decision writes the ticket, and of four processes that look one runs it', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const processes = [0, 1, 2, 3].map(() => gated(world, tools.tools))
      const [first] = processes
      if (!first) throw new Error('There is a first one')
      const created = await first.call('pay', { amount: 5 })
      expect(created).toMatchObject({
        ...{ resultType: 'task', status: 'working', statusMessage: 'Waiting for approval' },
        ...{ pollIntervalMs: 5_000, ttlMs: 1_200_000 },
      })
      const { taskId } = created
      const [ticket] = (await first.approvals.list({ status: 'pending' })).tickets
      expect(ticket).toMatchObject({ tool: 'pay', task: taskId })
      expect(await first.get(taskId)).toMatchObject({ status: 'working', statusMessage: 'Waiting for approval' })
      await first.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
      expect(tools.runs).toEqual([])
      // Only the caller's own look runs it.
      await first.get(taskId, { as: 'bob' })
      expect(tools.runs).toEqual([])
      await Promise.all(processes.flatMap((process) => [process.get(taskId), process.get(taskId)]))
      await reaches(first, taskId, 'completed')
      expect(await first.get(taskId)).toMatchObject({ result: { content: [{ text: 'Paid 5' }], isError: false } })
      expect(tools.runs).toEqual(['pay 5'])
      expect(await first.approvals.get(ticket?.id ?? '')).toMatchObject({ status: 'done' })
      // A look proposes nothing.
      expect((await first.approvals.list()).tickets).toHaveLength(1)
    }))

  test('the process that made the task is not needed to run it', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [gated(world, tools.tools), gated(world, tools.tools)]
      const { taskId } = await one.call('pay', { amount: 5 })
      one.kill()
      await pass(world, 60_000)
      const [ticket] = (await other.approvals.list({ status: 'pending' })).tickets
      await other.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
      await reaches(other, taskId, 'completed')
      expect(tools.runs).toEqual(['pay 5'])
    }))

  test('denied, it ends with the person’s words; expired, it fails; and nothing ran', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const one = gated(world, tools.tools)
      const denied = await one.call('pay', { amount: 5 })
      const expired = await one.call('pay', { amount: 6 })
      const tickets = (await one.approvals.list({ status: 'pending' })).tickets
      const ticket = tickets.find(({ task }) => task === denied['taskId'])
      await one.approvals.decide(ticket?.id ?? '', { approved: false, note: 'Too dear' }, olga)
      await reaches(one, denied['taskId'], 'completed')
      expect(await one.get(denied['taskId'])).toMatchObject({
        result: { isError: true, content: [{ text: expect.stringContaining('Too dear') }] },
      })
      await pass(world, 600_000)
      await reaches(one, expired['taskId'], 'failed')
      expect(await one.get(expired['taskId'])).toMatchObject({ error: { data: { reason: 'approvalInvalid' } } })
      expect(tools.runs).toEqual([])
    }))

  test('a definition that changed, or a tool that is gone, ends the approval', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const one = gated(world, tools.tools)
      const [changed, removed] = [await one.call('pay', { amount: 5 }), await one.call('gated')]
      for (const { id } of (await one.approvals.list({ status: 'pending' })).tickets)
        await one.approvals.decide(id, { approved: true }, olga)
      const other = gated(world, [
        tool({
          ...{ name: 'pay', description: 'Pays twice, after an approval', approval: 'always', stateless: true },
          input: z.object({ amount: z.number() }),
          run: () => 'Paid twice',
        }),
      ])
      await reaches(other, changed['taskId'], 'failed')
      expect(await other.get(changed['taskId'])).toMatchObject({ error: { data: { reason: 'approvalInvalid' } } })
      await reaches(other, removed['taskId'], 'failed')
      expect(await other.get(removed['taskId'])).toMatchObject({ error: { data: { reason: 'unknownTool' } } })
      expect(tools.runs).toEqual([])
    }))

  test('cancelled while it waits, it withdraws its ticket', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const one = gated(world, tools.tools)
      const { taskId } = await one.call('pay', { amount: 5 })
      await one.send('tasks/cancel', { taskId })
      expect(await one.get(taskId)).toMatchObject({ status: 'cancelled' })
      expect((await one.approvals.list()).tickets).toMatchObject([{ status: 'void', withdrawn: true, decisions: [] }])
      expect(tools.runs).toEqual([])
      // It was not denied, so the same call asks again.
      expect(await one.call('pay', { amount: 5 })).toMatchObject({ taskId: expect.any(String), status: 'working' })
      expect((await one.approvals.list({ status: 'pending' })).tickets).toHaveLength(1)
    }))

  test('cancelled after its approval, it withdraws the approval', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const one = gated(world, tools.tools)
      const { taskId } = await one.call('pay', { amount: 5 })
      const [ticket] = (await one.approvals.list({ status: 'pending' })).tickets
      await one.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
      await one.send('tasks/cancel', { taskId })
      expect(await one.approvals.get(ticket?.id ?? '')).toMatchObject({
        ...{ status: 'void', withdrawn: true, decisions: [{ by: olga.subject, approved: true }] },
      })
      expect(tools.runs).toEqual([])
    }))

  test('killed between the claim and the end of an approved task, it is in doubt and does not run again', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [gated(world, tools.tools), gated(world, tools.tools)]
      const { taskId } = await one.call('gated')
      const [ticket] = (await one.approvals.list({ status: 'pending' })).tickets
      await one.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
      const work = tools.next()
      await one.get(taskId)
      await work.began
      one.kill()
      await pass(world, 20_000)
      expect(await other.get(taskId)).toMatchObject({ status: 'failed', error: { data: { state: 'in doubt' } } })
      await pass(world, 60_000)
      expect(await other.get(taskId)).toMatchObject({ status: 'failed' })
      expect(tools.runs).toEqual(['gated'])
    }))

  test('a client without tasks sees approvals as before', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const one = gated(world, tools.tools)
      const plain = { capabilities: {} }
      const asked = await one.call('pay', { amount: 5 }, plain)
      const { request_id } = JSON.parse((asked['content'] as readonly { text: string }[])[0]?.text ?? '{}')
      await one.approvals.decide(request_id, { approved: true }, olga)
      expect(await one.call('pay', { amount: 5 }, plain)).toMatchObject({ content: [{ text: 'Paid 5' }] })
    }))

  test('a subscription gets the whole task whenever it changed, of its own tasks only, and runs what was approved', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const [one, other] = [gated(world, tools.tools), gated(world, tools.tools)]
      const { taskId } = await one.call('pay', { amount: 5 })
      const foreign = await one.call('pay', { amount: 5 }, { as: 'bob' })
      const heard: Params[] = []
      const taskIds = [taskId, foreign['taskId'], 'unknown']
      const listening = other.send(
        'subscriptions/listen',
        { notifications: { taskIds } },
        { send: (message) => heard.push({ ...message }) },
      )
      await settled(() => heard.length === 2)
      expect(heard).toMatchObject([
        { method: 'notifications/subscriptions/acknowledged', params: { notifications: { taskIds: [taskId] } } },
        { method: 'notifications/tasks', params: { taskId, status: 'working', _meta: expect.anything() } },
      ])
      const ticket = (await one.approvals.list({ status: 'pending' })).tickets.find(({ task }) => task === taskId)
      await one.approvals.decide(ticket?.id ?? '', { approved: true }, olga)
      await pass(world, 5_000)
      await settled(() => heard.at(-1)?.['params'] !== undefined && JSON.stringify(heard.at(-1)).includes('Paid 5'))
      expect(heard.at(-1)).toMatchObject({ params: { status: 'completed', result: { content: [{ text: 'Paid 5' }] } } })
      expect(tools.runs).toEqual(['pay 5'])
      await other.server.close()
      await listening
    }))

  test('looks have a rate limit that is not the tool’s', () =>
    inWorld(async (world) => {
      const tools = taskTools()
      const use = (): readonly ReturnType<typeof rateLimit>[] => [rateLimit({ burst: 3, perSecond: 0.001 })]
      const one = open(world, { tools: tools.tools, use })
      const { taskId } = await one.call('slow')
      for (let look = 0; look < 3; look++) expect(await one.get(taskId)).toMatchObject({ status: 'working' })
      expect(await one.get(taskId)).toMatchObject({ code: 42900 })
      expect(await one.call('slow')).toMatchObject({ resultType: 'task' })
    }))
})

test('a client that cannot be asked is told what it lacks', () =>
  inMemory(async (world) => {
    const one = openTasks(world)
    const { extensions } = withTasks
    const { taskId } = await one.call('asking', {}, { capabilities: { extensions } })
    await reaches(one, taskId, 'failed')
    expect(await one.get(taskId)).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } },
    })
  }))
