/** Workspaces and tenants are isolated, for every caller and every tool. */

import { authenticate, tenants } from 'sluice'
import { createServer } from 'sluice/node'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { open } from '../src/index.ts'
import { aFolder, openMemory } from './server.fixture.ts'

test('a workspace keeps its memories, entities and statistics to itself', async () => {
  const { call, add, search, text, client } = await openMemory()
  await call('create_workspace', { workspace_id: 'work', name: 'Work', description: 'At the office' })
  const id = await add('the budget is 400', { tags: ['money'] })
  await call('add_relation', { from: 'Anna', relation: 'leads', to: 'Budget' })
  const there = { workspace_id: 'work' }
  expect(await search('budget', there)).toEqual([])
  expect(await text('list_memories', there)).toBe('No memories.')
  expect(await text('get_stats', there)).toContain('Total Memories: 0\n')
  expect(await text('graph_status', there)).toContain('Nodes: 0')
  expect((await call('get_related', { entity_id: 'Anna', ...there })).isError).toBe(true)
  expect((await call('delete_memory', { memory_id: id, confirm: true, ...there })).isError).toBe(true)
  expect((await call('export_memories', there)).content[1]?.resource?.text).toBe('')
  await expect(client.request('resources/read', { uri: `memory://work/${id}` })).rejects.toThrow('Resource not found')
  await add('the budget is 100', {}, there)
  expect(await search('budget')).toEqual(['the budget is 400'])
  expect(await search('budget', there)).toEqual(['the budget is 100'])
})

test('the current workspace of one connection does not affect another', async () => {
  const first = await openMemory()
  const second = await first.another()
  await first.call('create_workspace', { workspace_id: 'work' })
  expect(await first.text('set_current_workspace', { workspace_id: 'work' })).toBe('Current workspace: work')
  await first.add('said at work')
  expect(await first.text('get_current_workspace')).toBe('Current workspace: work')
  expect(await second.text('get_current_workspace')).toBe('Current workspace: default')
  expect(await first.search('said')).toEqual(['said at work'])
  expect(await second.search('said')).toEqual([])
  expect(await second.text('list_workspaces')).toBe(
    '2 workspaces:\n- work: 1 memory\n- default (Default): 0 memories, current',
  )
})

test('a client without a connection names its workspace, and an attempt to switch says so', async () => {
  const { call, text, add, search } = await openMemory({ revision: '2026-07-28' })
  await call('create_workspace', { workspace_id: 'work' })
  expect(await text('set_current_workspace', { workspace_id: 'work' })).toContain('pass workspace_id with each call')
  await add('said at work', {}, { workspace_id: 'work' })
  expect(await search('said')).toEqual([])
  expect(await search('said', { workspace_id: 'work' })).toEqual(['said at work'])
})

test('an unknown workspace is reported, with what to do', async () => {
  const { text } = await openMemory()
  for (const name of ['search_memory', 'set_current_workspace', 'delete_workspace'])
    expect(await text(name, { workspace_id: 'none', ...(name === 'search_memory' && { query: 'x' }) })).toBe(
      'Workspace not found: none. list_workspaces shows the existing ones; create_workspace creates one.',
    )
  expect(await text('create_workspace', { workspace_id: 'default' })).toBe('Workspace already exists: default')
})

test('a workspace is deleted after a warning; one with contents needs an approval; the default one is never deleted', async () => {
  const { call, text, add, client } = await openMemory()
  await call('create_workspace', { workspace_id: 'w' })
  await call('set_current_workspace', { workspace_id: 'w' })
  await add('in w')
  expect(await text('delete_workspace', { workspace_id: 'w' })).toContain('workspace w holds 1 memory in 1 chunk')
  await expect(client.call('delete_workspace', { workspace_id: 'w', confirm: true })).rejects.toThrow(
    'needs an approval',
  )
  const { structuredContent } = await call('list_memories')
  await call('delete_memory', { memory_id: structuredContent.memories[0].memory_id, confirm: true })
  expect(await text('delete_workspace', { workspace_id: 'w', confirm: true })).toBe('Workspace deleted: w\nMemories: 0')
  expect(await text('get_current_workspace')).toBe('Current workspace: default')
  expect(await text('delete_workspace', { workspace_id: 'default', confirm: true })).toContain('cannot be deleted')
})

test("the workspace in a client's configuration exists from its first use", async () => {
  const { add, text } = await openMemory({ env: { SLUICE_MEMORY_WORKSPACE: 'project-x' } })
  await add('x')
  expect(await text('list_workspaces')).toContain('- project-x: 1 memory, current')
  await expect(openMemory({ env: { SLUICE_MEMORY_WORKSPACE: 'no spaces' } })).rejects.toThrow('SLUICE_MEMORY_WORKSPACE')
})

test('clearing needs an approval, and the phrase is checked before a person is asked', async () => {
  const { client, add, search, text } = await openMemory()
  await add('kept')
  expect(await text('clear_all', { confirm_phrase: 'yes' })).toContain('must be exactly "DELETE ALL MEMORIES"')
  await expect(client.call('clear_all', { confirm_phrase: 'DELETE ALL MEMORIES' })).rejects.toThrow('needs an approval')
  expect(await search('kept')).toEqual(['kept'])
})

test('an approved clearing empties the named workspace once, and no other', async () => {
  const { client, add, search, call, text } = await openMemory({ approvals: { approver: 'client' } })
  await call('create_workspace', { workspace_id: 'other' })
  await add('to be cleared')
  await add('to be kept', {}, { workspace_id: 'other' })
  const clear = { confirm_phrase: 'DELETE ALL MEMORIES' }
  const { request_id } = JSON.parse(await text('clear_all', clear))
  expect(await search('cleared')).toHaveLength(1)
  await client.request('approval/respond', { request_id, approved: true })
  expect(await text('clear_all', clear)).toBe('All memories deleted from workspace default.\nMemories: 1\nChunks: 1')
  expect(await search('cleared')).toEqual([])
  expect(await search('kept', { workspace_id: 'other' })).toEqual(['to be kept'])
  await add('new after that')
  expect(await text('clear_all', clear)).toContain('approval_required')
  expect(await search('new')).toHaveLength(1)
})

test('an approval to clear one workspace does not clear the one that is current now', async () => {
  const { client, add, search, call, text } = await openMemory({ approvals: { approver: 'client' } })
  await call('create_workspace', { workspace_id: 'scratch' })
  await add('precious')
  await call('set_current_workspace', { workspace_id: 'scratch' })
  const clear = { confirm_phrase: 'DELETE ALL MEMORIES' }
  const asked = JSON.parse(await text('clear_all', clear))
  expect(asked.effect).toEqual({ Workspace: 'scratch', Memories: 0, Entities: 0, Relations: 0 })
  await client.request('approval/respond', { request_id: asked.request_id, approved: true })
  await call('set_current_workspace', { workspace_id: 'default' })
  expect(await text('clear_all', clear)).toContain('Workspace: "scratch" → "default"; Memories: 0 → 1')
  expect(await search('precious')).toEqual(['precious'])
})

test('two tenants with the same words see nothing of each other, nor the size of the archive', async () => {
  const clock = fakeClock()
  const opened = await open({ folder: aFolder(), env: {}, clock, logger: { info() {}, warn() {}, error() {} } })
  onTestFinished(opened.close)
  const server = createServer(opened.definition, {
    clock,
    use: [
      authenticate({
        verifiers: [
          {
            verify: async (who) => ({
              subject: who,
              credential: who,
              scopes: new Set<string>(),
              claims: { tenant: who },
              expires: Number.POSITIVE_INFINITY,
            }),
          },
        ],
      }),
      tenants({ claim: 'tenant' }),
    ],
  })
  const call = async (who: string, name: string, args: object = {}): Promise<string> =>
    JSON.stringify(
      await server.handle(
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
        {
          via: {
            transport: 'http',
            peer: '',
            header: (name) => (name === 'authorization' ? `Bearer ${who}` : undefined),
          },
        },
      ),
    )
  const stored = await call('ann', 'add_memory', { text: 'the plan of ann' })
  const id = /[0-9a-f-]{36}/.exec(stored)?.[0]
  await call('bob', 'add_memory', { text: 'the plan of bob' })
  await call('ann', 'create_workspace', { workspace_id: 'hers' })
  await call('ann', 'add_relation', { from: 'Ann', relation: 'has', to: 'Plan' })
  expect(await call('bob', 'search_memory', { query: 'plan' })).not.toContain('ann')
  expect(await call('bob', 'list_memories')).not.toContain('ann')
  expect(await call('bob', 'list_workspaces')).not.toContain('hers')
  expect(await call('bob', 'search_memory', { query: 'plan', workspace_id: 'hers' })).toContain('Workspace not found')
  expect(await call('bob', 'delete_memory', { memory_id: id, confirm: true })).toContain('Memory not found')
  expect(await call('bob', 'get_related', { entity_id: 'Ann' })).toContain('Entity not found')
  expect(await call('bob', 'export_memories')).not.toContain('ann')
  const before = await call('bob', 'get_stats')
  await clock.advance(1)
  await call('ann', 'search_memory', { query: 'plan' })
  await call('ann', 'add_memory', { text: 'more of ann '.repeat(20_000) })
  expect(before).toContain('Total Memories: 1')
  expect(await call('bob', 'get_stats')).toBe(before)
})
