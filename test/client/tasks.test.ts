/** `sluice/client` as the requester of tasks: the extension of 2026-07-28, and the tasks of 2025-11-25. */

import type { Client } from 'sluice/client'
import { connect, httpTransport, ServerError } from 'sluice/client'
import { fakeClock } from 'sluice/testing'
import { expect, test } from 'vitest'
import type { Asked } from './hostile-server.ts'
import { answerTo, hostileServer, sendJson } from './hostile-server.ts'

const task = { taskId: 't', createdAt: '2026-01-01T00:00:00Z', lastUpdatedAt: '2026-01-01T00:00:00Z', ttlMs: null }
const done = { resultType: 'complete', content: [{ type: 'text', text: 'done' }] }

/** Serves a task whose states come one after the other; remembers what was sent to it. */
async function serve(states: readonly object[]): Promise<{ url: string; sent: Asked[] }> {
  const sent: Asked[] = []
  let at = 0
  const url = await hostileServer((asked, response) => {
    sent.push(asked)
    if (asked.method === 'tools/call')
      return sendJson(response, answerTo(asked, { resultType: 'task', ...task, status: 'working', pollIntervalMs: 20 }))
    if (asked.method !== 'tasks/get') return sendJson(response, answerTo(asked, { resultType: 'complete' }))
    const state = states[Math.min(at++, states.length - 1)]
    sendJson(response, answerTo(asked, { resultType: 'complete', ...task, pollIntervalMs: 20, ...state }))
  })
  return { url, sent }
}
const methods = (sent: readonly Asked[]): readonly string[] => sent.map(({ method }) => method)
const open = (url: string): Promise<Client> =>
  connect(httpTransport(url), {
    tasks: true,
    handlers: { form: () => ({ action: 'accept', content: { name: 'Ada' } }) },
  })

test('a task is followed to its result, and asked for by name', async () => {
  const { url, sent } = await serve([{ status: 'working' }, { status: 'completed', result: done }])
  const states: unknown[] = []
  const client = await open(url)
  expect(await client.callTool('a', {}, { onTask: ({ status }) => states.push(status) })).toEqual(done)
  expect(states).toEqual(['working', 'working', 'completed'])
  expect(methods(sent)).toEqual(['tools/call', 'tasks/get', 'tasks/get'])
  expect(sent[0]?.params['_meta']).toMatchObject({
    'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
  })
})
test('what a task asks is answered once', async () => {
  const asking = {
    status: 'input_required',
    inputRequests: { q: { method: 'elicitation/create', params: { message: '?' } } },
  }
  const { url, sent } = await serve([asking, asking, { status: 'completed', result: done }])
  expect(await (await open(url)).callTool('a')).toEqual(done)
  const updates = sent.filter(({ method }) => method === 'tasks/update')
  expect(updates.map(({ params }) => params['inputResponses'])).toEqual([
    { q: { action: 'accept', content: { name: 'Ada' } } },
  ])
})
test('a failed task is the error it holds', async () => {
  const { url } = await serve([{ status: 'failed', error: { code: -32603, message: 'broken' } }])
  await expect((await open(url)).callTool('a')).rejects.toEqual(new ServerError(-32603, 'broken'))
})
test('a caller that stops waiting cancels the task', async () => {
  const { url, sent } = await serve([{ status: 'working' }])
  const controller = new AbortController()
  let polls = 0
  const call = (await open(url)).callTool(
    'a',
    {},
    {
      signal: controller.signal,
      onTask() {
        if (++polls === 3) controller.abort()
      },
    },
  )
  await expect(call).rejects.toMatchObject({ reason: 'cancelled' })
  expect(methods(sent).at(-1)).toBe('tasks/cancel')
})
test('an answer about another task is refused', async () => {
  const { url } = await serve([{ taskId: 'other', status: 'completed', result: done }])
  await expect((await open(url)).callTool('a')).rejects.toMatchObject({ reason: 'protocol' })
})
test('2025-11-25: the client asks for the task, and for its result', async () => {
  const sent: Asked[] = []
  const answers: { readonly [method: string]: object } = {
    initialize: {
      protocolVersion: '2025-11-25',
      capabilities: { tools: {}, tasks: { requests: { tools: { call: {} } } } },
      serverInfo: { name: 'old', version: '1' },
    },
    'tools/list': { tools: [{ name: 'a', inputSchema: { type: 'object' }, execution: { taskSupport: 'required' } }] },
    'tools/call': { task: { taskId: 't', status: 'working', pollInterval: 20 } },
    'tasks/get': { taskId: 't', status: 'completed' },
    'tasks/result': { content: [] },
  }
  const url = await hostileServer((asked, response) => {
    sent.push(asked)
    const answer = answers[asked.method]
    if (asked.method === 'GET') response.writeHead(405).end()
    else if (asked.id === undefined) response.writeHead(202).end()
    else if (answer) sendJson(response, answerTo(asked, answer))
    else sendJson(response, JSON.stringify({ jsonrpc: '2.0', id: asked.id, error: { code: -32601, message: 'no' } }))
  }, true)
  const clock = fakeClock()
  const client = await connect(httpTransport(url), { tasks: true, clock })
  for await (const _tool of client.tools());
  const call = client.callTool('a')
  for (let turns = 0; turns < 50; turns++) {
    await clock.advance(20)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(await call).toEqual({ content: [] })
  expect(sent.find(({ method }) => method === 'tools/call')?.params).toEqual({ name: 'a', arguments: {}, task: {} })
  expect(methods(sent).slice(-2)).toEqual(['tasks/get', 'tasks/result'])
})
