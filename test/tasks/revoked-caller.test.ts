/** Tasks of a caller whose credential is revoked: API keys on a shared store, with the test's clock. */

import type { ApiKeys, Params, Store } from 'sluice'
import { apiKeys } from 'sluice'
import type { Approvals, Decider } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { settle } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { TasksFixture, TaskTools } from '../kit/servers/tasks.fixture.ts'
import { openTasks, taskTools } from '../kit/servers/tasks.fixture.ts'
import type { TaskWorld } from './worlds.ts'
import { inMemory } from './worlds.ts'

interface Process extends TasksFixture {
  readonly keys: ApiKeys
  readonly approvals: Approvals
}

const olga: Decider = { subject: 'olga', via: 'console', tenants: 'all', operator: true }
const refused = { data: { reason: 'unauthorized' } }

/** Opens a process that verifies API keys and has approvals. */
function openProcess(world: TaskWorld, { tools }: TaskTools): Process {
  const keys = apiKeys(world.store, { clock: world.clock })
  let approvals: Approvals | undefined
  const use = (store: Store): readonly Approvals[] => {
    approvals = createApprovals({ store, clock: world.clock, approver: 'other' })
    return [approvals]
  }
  const fixture = openTasks({ ...world, tools, verifier: keys, use })
  if (!approvals) throw new Error('The plugins were not asked for')
  return { ...fixture, keys, approvals }
}

async function approveAll({ approvals }: Process): Promise<void> {
  for (const { id } of (await approvals.list({ status: 'pending' })).tickets)
    await approvals.decide(id, { approved: true }, olga)
}

test('a revoked caller cannot read, update or cancel its task, and the task is unchanged', () =>
  inMemory(async (world) => {
    const tools = taskTools()
    const one = openProcess(world, tools)
    const { secret, key } = await one.keys.create({ subject: 'ann' })
    const as = secret
    const { taskId } = await one.call('asking', {}, { as })
    await settle()
    const asked = await one.get(taskId, { as })
    expect(asked).toMatchObject({ status: 'input_required' })

    await one.keys.revoke(key.id)
    const inputResponses = { 'who.1': { action: 'accept', content: { name: 'Ann' } } }
    expect(await one.get(taskId, { as })).toMatchObject(refused)
    expect(await one.send('tasks/update', { taskId, inputResponses }, { as })).toMatchObject(refused)
    expect(await one.send('tasks/cancel', { taskId }, { as })).toMatchObject(refused)

    // The task belongs to its caller, so another key of the same caller reads it.
    const other = await one.keys.create({ subject: 'ann' })
    expect(await one.get(taskId, { as: other.secret })).toEqual(asked)
  }))

test('a task that waits for an approval does not run for a revoked caller, and another key of the caller runs it', () =>
  inMemory(async (world) => {
    const tools = taskTools()
    const one = openProcess(world, tools)
    const { secret, key } = await one.keys.create({ subject: 'ann' })
    const { taskId } = await one.call('pay', { amount: 5 }, { as: secret })
    await one.keys.revoke(key.id)
    await approveAll(one)
    expect(await one.get(taskId, { as: secret })).toMatchObject(refused)
    await settle()
    expect(tools.runs).toEqual([])

    const other = await one.keys.create({ subject: 'ann' })
    await one.get(taskId, { as: other.secret })
    await settle()
    expect(tools.runs).toEqual(['pay 5'])
  }))

test('a key that another process revoked runs no approved task after five seconds', () =>
  inMemory(async (world) => {
    const tools = taskTools()
    const [one, other] = [openProcess(world, tools), openProcess(world, tools)]
    const { secret, key } = await one.keys.create({ subject: 'ann' })
    const { taskId } = await one.call('pay', { amount: 5 }, { as: secret })
    await other.keys.revoke(key.id)
    await approveAll(other)
    await world.clock.advance(5_000)
    expect(await one.get(taskId, { as: secret })).toMatchObject(refused)
    expect(await other.get(taskId, { as: secret })).toMatchObject(refused)
    await settle()
    expect(tools.runs).toEqual([])
  }))

test('the subscription of a revoked caller ends, and runs nothing that is approved afterwards', () =>
  inMemory(async (world) => {
    const tools = taskTools()
    const one = openProcess(world, tools)
    const { secret, key } = await one.keys.create({ subject: 'ann' })
    const { taskId } = await one.call('pay', { amount: 5 }, { as: secret })
    const heard: Params[] = []
    const listening = one.send(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId] } },
      { as: secret, send: (message) => heard.push({ ...message }) },
    )
    await settle()
    const before = heard.length
    expect(before).toBeGreaterThan(0)
    await one.keys.revoke(key.id)
    expect(await listening).toMatchObject(refused)
    await approveAll(one)
    await world.clock.advance(60_000)
    expect(tools.runs).toEqual([])
    expect(heard).toHaveLength(before)
  }))

test('a task that runs goes on when its caller is revoked, and its result waits for another key of the caller', () =>
  inMemory(async (world) => {
    const tools = taskTools()
    const one = openProcess(world, tools)
    const { secret, key } = await one.keys.create({ subject: 'ann' })
    const work = tools.next()
    const { taskId } = await one.call('slow', {}, { as: secret })
    await work.began
    await one.keys.revoke(key.id)
    await world.clock.advance(60_000)
    expect(work.signal?.aborted).toBe(false)
    work.end('done')
    await settle()
    expect(await one.get(taskId, { as: secret })).toMatchObject(refused)
    const other = await one.keys.create({ subject: 'ann' })
    expect(await one.get(taskId, { as: other.secret })).toMatchObject({
      ...{ status: 'completed', result: { content: [{ text: 'done' }] } },
    })
  }))
