/** The binary over stdio and HTTP, with the official client. */

import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { overHttp, overStdio, textOf } from '../../../test/kit/clients/binary.client.ts'
import { aFolder } from './server.fixture.ts'

async function useEveryFeature(client: Client): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    ...['add_memory', 'list_memories', 'delete_memory', 'clear_all', 'search_memory', 'get_stats'],
    ...['create_workspace', 'list_workspaces', 'set_current_workspace', 'get_current_workspace', 'delete_workspace'],
    ...['export_memories', 'import_memories'],
    ...['add_relation', 'get_related', 'graph_status', 'export_graph', 'build_graph', 'prune_memory'],
  ])
  expect(await textOf(client, 'add_memory', { text: 'The office is in Delft.' })).toMatch(
    /^Memory stored successfully\.\nID: [0-9a-f-]{36}\nChunks created: 1$/,
  )
  expect(await textOf(client, 'search_memory', { query: 'where is the office?' })).toContain('The office is in Delft.')
  await textOf(client, 'add_relation', { from: 'Anna', relation: 'works_in', to: 'Delft' })
  expect(await textOf(client, 'get_related', { entity_id: 'delft' })).toContain('1. [THING] Anna (Confidence: 1.00)')
  const { resources } = await client.listResources()
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates).toMatchObject([{ uriTemplate: 'memory://{workspace}/{id}' }])
  const [memory] = resources.length > 0 ? resources : (await client.listResources({ cursor: 'x' })).resources
  expect((await client.readResource({ uri: memory?.uri ?? '' })).contents).toMatchObject([
    { text: 'The office is in Delft.' },
  ])
  const { messages } = await client.getPrompt({ name: 'recall', arguments: { topic: 'office' } })
  expect(JSON.stringify(messages)).toContain('The office is in Delft.')
  // The workspace lasts from call to call, and only on this connection.
  await textOf(client, 'create_workspace', { workspace_id: 'project' })
  await textOf(client, 'set_current_workspace', { workspace_id: 'project' })
  expect(await textOf(client, 'get_current_workspace')).toBe('Current workspace: project')
  await textOf(client, 'add_memory', { text: 'A secret of the project' })
  expect(await textOf(client, 'search_memory', { query: 'office' })).toMatch(/^No results found matching your query\./)
  expect(await textOf(client, 'search_memory', { query: 'secret', workspace_id: 'default' })).toMatch(
    /^No results found matching your query\./,
  )
}

test('over stdio; the next process finds what was stored, and starts in its own workspace', async () => {
  const folder = aFolder()
  await useEveryFeature(await overStdio('memory', folder))
  const next = await overStdio('memory', folder)
  expect(await textOf(next, 'get_current_workspace')).toBe('Current workspace: default')
  expect(await textOf(next, 'search_memory', { query: 'office' })).toContain('The office is in Delft.')
  expect(await textOf(next, 'search_memory', { query: 'secret' })).toMatch(/^No results found matching your query\./)
}, 120_000)

test('over HTTP; another session starts in its own workspace', async () => {
  const connect = await overHttp('memory', aFolder())
  await useEveryFeature(await connect())
  const other = await connect()
  expect(await textOf(other, 'get_current_workspace')).toBe('Current workspace: default')
  expect(await textOf(other, 'search_memory', { query: 'secret' })).toMatch(/^No results found matching your query\./)
}, 120_000)

test("clearing works over stdio with the approval of the client's user, and never over HTTP for anonymous callers", async () => {
  const clear = { confirm_phrase: 'DELETE ALL MEMORIES' }
  const folder = aFolder()
  const client = await overStdio('memory', folder)
  await textOf(client, 'add_memory', { text: 'to be cleared' })
  const { request_id } = JSON.parse(await textOf(client, 'clear_all', clear))
  expect(await textOf(client, 'search_memory', { query: 'cleared' })).toContain('Found 1')
  await client.request({ method: 'approval/respond', params: { request_id, approved: true } }, z.looseObject({}))
  expect(await textOf(client, 'clear_all', clear)).toContain('All memories deleted from workspace default.')
  await client.close()
  const stranger = await (await overHttp('memory', folder))()
  await expect(stranger.callTool({ name: 'clear_all', arguments: clear })).rejects.toThrow('needs an approval')
}, 120_000)

test('two processes share one file: each finds what the other stores', async () => {
  const folder = aFolder()
  const [first, second] = [await overStdio('memory', folder), await overStdio('memory', folder)]
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => textOf(n % 2 ? first : second, 'add_memory', { text: `fact number ${n}` })),
  )
  for (const client of [first, second])
    expect(await textOf(client, 'search_memory', { query: 'fact', limit: 100 })).toContain('Found 20 results')
}, 120_000)
