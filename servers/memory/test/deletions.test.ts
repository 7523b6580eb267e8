/** A loop of single deletions must not bypass the approval that deleting all memories needs. */

import { memoryStore } from 'sluice'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { OpenedMemory } from './server.fixture.ts'
import { noon, openMemory, textOf } from './server.fixture.ts'

const gated = { approver: 'client' } as const

const addMany = async ({ add }: OpenedMemory, count: number, more?: object): Promise<readonly string[]> => {
  const ids: string[] = []
  for (let n = 0; n < count; n++) ids.push(await add(`note ${n}`, undefined, more))
  return ids
}
/** Returns the outcome of each call: `deleted`, or the ticket it waits for. */
async function deleteAll({ call }: OpenedMemory, ids: readonly string[], more?: object): Promise<readonly string[]> {
  const outcomes: string[] = []
  for (const memory_id of ids) {
    const answer = await call('delete_memory', { memory_id, confirm: true, ...more })
    outcomes.push(answer.structuredContent?.deleted ? 'deleted' : textOf(answer))
  }
  return outcomes
}
const deletedIn = (outcomes: readonly string[]): number => outcomes.filter((outcome) => outcome === 'deleted').length

test('a burst of deletions needs an approval that shows each memory', async () => {
  const memory = await openMemory({ approvals: gated })
  const ids = await addMany(memory, 13)
  const outcomes = await deleteAll(memory, ids)
  expect(deletedIn(outcomes)).toBe(10)
  expect((await memory.call('list_memories')).structuredContent.count).toBe(3)
  const { request_id, message } = JSON.parse(outcomes[10] ?? '')
  expect(message).toBe('User approval required for tool: delete_memory')
  await memory.client.request('approval/respond', { request_id, approved: true })
  expect(deletedIn(await deleteAll(memory, ids.slice(10, 11)))).toBe(1)
  expect((await memory.call('list_memories')).structuredContent.count).toBe(2)
})

test('a few deletions now and then need no approval, and each workspace has its own budget', async () => {
  const clock = fakeClock(noon)
  const memory = await openMemory({ approvals: gated, clock })
  await memory.call('create_workspace', { workspace_id: 'other' })
  const [here, there] = [await addMany(memory, 14), await addMany(memory, 3, { workspace_id: 'other' })]
  expect(deletedIn(await deleteAll(memory, here.slice(0, 11)))).toBe(10)
  expect(deletedIn(await deleteAll(memory, there, { workspace_id: 'other' }))).toBe(3)
  await clock.advance(2 * 60_000)
  expect(deletedIn(await deleteAll(memory, here.slice(11)))).toBe(2)
})

test('another connection of the same caller shares the budget, and a missing memory costs nothing', async () => {
  const memory = await openMemory({ approvals: gated })
  const ids = await addMany(memory, 12)
  const nowhere = '00000000-0000-4000-8000-000000000000'
  for (let n = 0; n < 20; n++)
    expect(textOf(await memory.call('delete_memory', { memory_id: nowhere, confirm: true }))).toBe('Memory not found.')
  expect(deletedIn(await deleteAll(memory, ids.slice(0, 10)))).toBe(10)
  expect(deletedIn(await deleteAll(await memory.another(), ids.slice(10)))).toBe(0)
})

test('a burst is refused if approvals are unavailable', async () => {
  const memory = await openMemory()
  const ids = await addMany(memory, 11)
  expect(deletedIn(await deleteAll(memory, ids.slice(0, 10)))).toBe(10)
  await expect(memory.call('delete_memory', { memory_id: ids[10], confirm: true })).rejects.toThrow('needs an approval')
})

test("an operator's rule requires an approval for every deletion", async () => {
  const rules = [{ tool: 'delete_memory', approval: 'always' }] as const
  const memory = await openMemory({ approvals: { approver: 'client', rules } })
  const ids = await addMany(memory, 2)
  expect(deletedIn(await deleteAll(memory, ids))).toBe(0)
})

test('a deleted workspace is reported as deleted, even if resetting the current one fails', async () => {
  // Without a connection there is no current workspace to leave.
  const stateless = await openMemory({ env: { SLUICE_MEMORY_WORKSPACE: 'start' }, revision: '2026-07-28' })
  await stateless.call('list_memories')
  expect(await stateless.text('delete_workspace', { workspace_id: 'start', confirm: true })).toBe(
    'Workspace deleted: start\nMemories: 0',
  )
  // With a connection, the store that keeps the choice may be unavailable.
  const store = memoryStore()
  let isAway = false
  const failing = {
    ...store,
    set: (...args: Parameters<typeof store.set>) => (isAway ? operatorAway() : store.set(...args)),
  }
  const memory = await openMemory({ store: failing })
  await memory.call('create_workspace', { workspace_id: 'w' })
  await memory.call('set_current_workspace', { workspace_id: 'w' })
  isAway = true
  const answer = await memory.call('delete_workspace', { workspace_id: 'w', confirm: true })
  expect(answer).toMatchObject({ isError: false, structuredContent: { deleted: true } })
  expect(textOf(answer)).toContain('Choose another with set_current_workspace')
})

const operatorAway = () => Promise.reject(new Error('away'))
