/** A task from its creation to its end, as one process sees it. */

import { memoryStore } from 'sluice'
import { metrics, tenants } from 'sluice/plugins'
import { fakeClock, settle } from 'sluice/testing'
import { expect, test } from 'vitest'
import { extension, openTasks, taskTools } from '../kit/servers/tasks.fixture.ts'

const iso = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/)

test('a call becomes a task, works, and ends with the result that the call would have had', async () => {
  const tools = taskTools()
  const { call, get } = openTasks({ tools: tools.tools })
  const work = tools.next()
  const created = await call('slow')
  expect(created).toEqual({
    resultType: 'task',
    ...{ taskId: expect.stringMatching(/^[\da-f-]{36}$/), status: 'working', createdAt: iso, lastUpdatedAt: iso },
    ...{ ttlMs: 3_600_000, pollIntervalMs: 1_000, _meta: expect.anything() },
  })
  expect(await get(created['taskId'])).toMatchObject({ resultType: 'complete', status: 'working' })
  work.end('done')
  await settle()
  expect(await get(created['taskId'])).toMatchObject({
    ...{ taskId: created['taskId'], resultType: 'complete', status: 'completed' },
    result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }], isError: false },
  })
  expect(tools.runs).toEqual(['slow'])
})

test('the capability is exactly an empty object, on 2026-07-28 only', async () => {
  const { server, send } = openTasks()
  expect(await send('server/discover')).toMatchObject({ capabilities: { extensions: { [extension]: {} } } })
  const legacy = await server.handle({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  })
  expect(JSON.stringify(legacy)).not.toContain('tasks')
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(await server.handle({ jsonrpc: '2.0', id: 2, method, params: { taskId: 'x', token: 'ann' } })).toMatchObject(
      {
        error: { code: -32601 },
      },
    )
})

test('a client that does not declare tasks gets none, and is refused where there is no other way', async () => {
  const tools = taskTools()
  const { call, send } = openTasks({ tools: tools.tools })
  const plain = { capabilities: {} }
  const missing = {
    code: -32021,
    data: { requiredCapabilities: { extensions: { [extension]: {} } } },
  }
  expect(await call('slow', {}, plain)).toMatchObject(missing)
  for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
    expect(await send(method, { taskId: 'unknown' }, plain)).toMatchObject(missing)
  expect(await send('subscriptions/listen', { notifications: { taskIds: [] } }, { ...plain, send() {} })).toMatchObject(
    missing,
  )
  const work = tools.next()
  const answer = call('auto', {}, plain)
  work.end('done')
  expect(await answer).toMatchObject({ resultType: 'complete', content: [{ text: 'done' }] })
  expect(tools.runs).toEqual(['auto'])
})

test('auto: work that is done in time is answered at once, and other work becomes a task', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const tools = taskTools()
  const { call, get } = openTasks({ tools: tools.tools, clock })
  const quick = tools.next()
  const first = call('auto')
  await clock.advance(999)
  quick.end('quick')
  expect(await first).toMatchObject({ resultType: 'complete', content: [{ text: 'quick' }] })
  const long = tools.next()
  const second = call('auto')
  await clock.advance(1_000)
  const created = await second
  expect(created).toMatchObject({ resultType: 'task', status: 'working', statusMessage: 'half way' })
  // Past the deadline of the request: it bounds the answer, not the work.
  await clock.advance(600_000)
  expect(await get(created['taskId'])).toMatchObject({ status: 'working' })
  long.end('long')
  await settle()
  expect(await get(created['taskId'])).toMatchObject({ status: 'completed', result: { content: [{ text: 'long' }] } })
})

test('a tool error is a result, and every other error ends the task as failed', async () => {
  const { call, get } = openTasks()
  const failing = await call('failing')
  const broken = await call('broken')
  await settle()
  expect(await get(failing['taskId'])).toMatchObject({
    ...{ status: 'completed', result: { isError: true, content: [{ text: 'No seats are left' }] } },
  })
  const failed = await get(broken['taskId'])
  expect(failed).toMatchObject({ status: 'failed', error: { code: 40300, message: 'Not today' } })
  expect(failed).toMatchObject({ statusMessage: 'Not today' })
  expect(failed).not.toHaveProperty('result')
})

test('unknown, expired and foreign tasks are the same to a caller', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const { call, get, send } = openTasks({ clock })
  const { taskId, ttlMs } = await call('failing')
  const unknown = await get('0')
  expect(unknown).toMatchObject({ code: -32602, message: 'Invalid params: unknown task' })
  const without = ({ message, code }: typeof unknown): object => ({ message, code })
  expect(without(await get(taskId, { as: 'bob' }))).toEqual(without(unknown))
  for (const method of ['tasks/update', 'tasks/cancel'])
    expect(without(await send(method, { taskId, inputResponses: {} }, { as: 'bob' }))).toEqual(without(unknown))
  expect(await get(taskId)).toMatchObject({ status: 'completed' })
  await clock.advance(Number(ttlMs))
  expect(without(await get(taskId))).toEqual(without(unknown))
})

test('cancelled, the work is stopped and the task ends; cancelling again is acknowledged', async () => {
  const tools = taskTools()
  const { call, get, send } = openTasks({ tools: tools.tools })
  const work = tools.next()
  const { taskId } = await call('slow')
  await work.began
  const ack = await send('tasks/cancel', { taskId })
  expect(Object.keys(ack).sort()).toEqual(['_meta', 'resultType'])
  await settle()
  expect(work.signal?.aborted).toBe(true)
  expect(await get(taskId)).toMatchObject({ status: 'cancelled' })
  expect(await send('tasks/cancel', { taskId })).toMatchObject({ resultType: 'complete' })
  work.end('too late')
  await settle()
  expect(await get(taskId)).toMatchObject({ status: 'cancelled' })
  expect(await get(taskId)).not.toHaveProperty('result')
})

test('a request that ends before its call is a task takes the work with it', async () => {
  const tools = taskTools()
  const { server } = openTasks({ tools: tools.tools })
  const work = tools.next()
  const controller = new AbortController()
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { extensions: { [extension]: {} } },
  }
  const params = { name: 'auto', arguments: {}, token: 'ann', _meta }
  const answer = server.handle({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { signal: controller.signal })
  await work.began
  controller.abort()
  expect(await answer).toBeNull()
  expect(work.signal?.aborted).toBe(true)
})

test('what the work reports becomes the status message, and no notification follows the answer', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const tools = taskTools()
  const { call, get } = openTasks({ tools: tools.tools, clock })
  const heard: object[] = []
  const { taskId } = await call('slow', {}, { meta: { progressToken: 1 }, send: (message) => heard.push(message) })
  await clock.advance(1_000)
  expect(await get(taskId)).toMatchObject({ statusMessage: 'half way' })
  expect(heard).toEqual([])
})

test('a shutdown waits for tasks within its grace, then fails them with the reason', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const store = memoryStore(clock)
  const tools = taskTools()
  const first = openTasks({ tools: tools.tools, clock, store })
  const [short, long] = [tools.next(), tools.next()]
  const [one, two] = [await first.call('slow'), await first.call('slow')]
  await settle()
  const shutDown = first.server.shutDown(10_000)
  await clock.advance(5_000)
  short.end('in time')
  await clock.advance(5_100)
  await shutDown
  await first.server.close()
  const { get } = openTasks({ tools: tools.tools, clock, store })
  expect(await get(one['taskId'])).toMatchObject({ status: 'completed', result: { content: [{ text: 'in time' }] } })
  expect(await get(two['taskId'])).toMatchObject({ status: 'failed', error: { data: { reason: 'shuttingDown' } } })
  expect(long.signal?.aborted).toBe(true)
  expect(clock.pending).toBe(0)
})

test.each([
  ['caller', { perCaller: 2 }, 'ann.acme', 'bob.acme'],
  ['tenant', { perTenant: 2 }, 'bob.acme', 'eve.other'],
  ['process', { perProcess: 2 }, 'eve.other', undefined],
])('running tasks of one %s are limited, and one that ends makes room', async (scope, caps, refused, accepted) => {
  const { call, send } = openTasks({ tasks: caps, use: () => [tenants({ claim: 'org' })] })
  const first = await call('slow', {}, { as: 'ann.acme' })
  expect(await call('slow', {}, { as: 'ann.acme' })).toMatchObject({ resultType: 'task' })
  expect(await call('slow', {}, { as: refused })).toMatchObject({
    ...{ code: 42900, data: { reason: 'rateLimited', retryAfterMs: 5_000 } },
    message: `Too many tasks of this ${scope} are open: wait until one ends, then try again`,
  })
  if (accepted) expect(await call('slow', {}, { as: accepted })).toMatchObject({ resultType: 'task' })
  await send('tasks/cancel', { taskId: first['taskId'] }, { as: 'ann.acme' })
  await settle()
  expect(await call('slow', {}, { as: refused })).toMatchObject({ resultType: 'task' })
})

test('a task that cannot be stored is not acknowledged, and nothing runs', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const whole = memoryStore(clock)
  const tools = taskTools()
  const store = {
    ...whole,
    swap: (...args: Parameters<typeof whole.swap>) =>
      args[0].includes('task') ? Promise.reject(new Error('away')) : whole.swap(...args),
  }
  const { call } = openTasks({ tools: tools.tools, clock, store })
  expect(await call('slow')).toMatchObject({ code: 50302 })
  expect(tools.runs).toEqual([])
  // What need not be a task goes on without one.
  const work = tools.next()
  const answer = call('auto')
  await clock.advance(1_000)
  work.end('done')
  expect(await answer).toMatchObject({ content: [{ text: 'done' }] })
})

test('creation, run and end are seen by observers; looks are not calls of the tool', async () => {
  const clock = fakeClock(1_700_000_000_000)
  const tools = taskTools()
  const { call, get, server } = openTasks({
    tools: tools.tools,
    clock,
    use: () => [metrics({ public: true } as never)],
  })
  const work = tools.next()
  const { taskId } = await call('slow')
  await get(taskId)
  work.end('done')
  await settle()
  const page =
    'page' in server && typeof server.page === 'function' ? await server.page('/metrics', '127.0.0.1') : undefined
  const lines = String(page?.body)
    .split('\n')
    .filter((line) => line.startsWith('sluice_requests_total') && line.includes('slow'))
  expect(lines).toEqual([expect.stringMatching(/outcome="complete"} 1$/), expect.stringMatching(/outcome="task"} 1$/)])
})

test('tasks/result and tasks/list do not exist', async () => {
  const { send } = openTasks()
  for (const method of ['tasks/result', 'tasks/list'])
    expect(await send(method, { taskId: 'x' })).toMatchObject({ code: -32601 })
})

test('a result that is too large for the store ends its task all the same', async () => {
  const tools = taskTools()
  const clock = fakeClock(1_700_000_000_000)
  const { call, get } = openTasks({ clock, tools: tools.tools })
  const work = tools.next()
  const { taskId } = await call('slow')
  // Each character is six in JSON.
  work.end('\u0001'.repeat(3 * 1024 * 1024))
  await settle()
  expect(await get(taskId)).toMatchObject({
    status: 'completed',
    result: { isError: true, _meta: { 'dev.sluice/error': { reason: 'resultTooLarge' } } },
  })
  expect(clock.pending).toBe(0)
})
