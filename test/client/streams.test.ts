/** `sluice/client`: subscriptions that break, and questions of earlier revisions that belong to a request. */

import type { Message, Transport } from 'sluice/client'
import { connect, httpTransport } from 'sluice/client'
import { fakeClock } from 'sluice/testing'
import { expect, onTestFinished, test } from 'vitest'
import { hostileServer } from './hostile-server.ts'

test('a subscription whose stream breaks is opened again, and the subscriber is told', async () => {
  const clock = fakeClock()
  const opened: (() => void)[] = []
  const url = await hostileServer(({ id, params }, response) => {
    const note = (method: string, more: object): string =>
      `data: ${JSON.stringify({ jsonrpc: '2.0', method, params: { _meta: { 'io.modelcontextprotocol/subscriptionId': id }, ...more } })}\n\n`
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(note('notifications/subscriptions/acknowledged', { notifications: params['notifications'] }))
    response.write(note('notifications/tools/list_changed', {}))
    opened.push(() => response.destroy())
  })
  const client = await connect(httpTransport(url), { clock })
  onTestFinished(() => client.close())
  const events: string[] = []
  const subscription = await client.subscribe(
    { toolsListChanged: true },
    {
      notification: (method) => events.push(method),
      reopened: () => events.push('reopened'),
      ended: () => events.push('ended'),
    },
  )
  expect(subscription.accepted).toEqual({ toolsListChanged: true })
  await expect.poll(() => events).toEqual(['notifications/tools/list_changed'])
  opened[0]?.()
  await expect.poll(() => clock.pending).toBe(1)
  await clock.advance(1000)
  await expect
    .poll(() => events)
    .toEqual(['notifications/tools/list_changed', 'reopened', 'notifications/tools/list_changed'])
  await subscription.close()
  expect(opened).toHaveLength(2)
  expect(clock.pending).toBe(0)
})

test('a subscription that the server refuses is not opened again', async () => {
  const url = await hostileServer(({ id }, response) => {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } }))
  })
  const client = await connect(httpTransport(url))
  await expect(client.subscribe({}, { notification: () => {} })).rejects.toMatchObject({ code: -32601 })
})

/** A legacy server on a channel that asks `question` while a tool runs, and answers with the answer. */
function asking(question: object): { readonly transport: Transport; readonly answers: Message[] } {
  const answers: Message[] = []
  let receive: ((message: Message) => void) | undefined
  const running: Message['id'][] = []
  const respond: { readonly [method: string]: (message: Message) => void } = {
    initialize: ({ id = 0 }) =>
      receive?.({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: {} } }),
    'tools/call'({ id = 0 }) {
      running.push(id)
      receive?.({ jsonrpc: '2.0', id: `q${String(id)}`, ...question })
    },
  }
  const transport: Transport = {
    server: 'asking',
    mirrorsHeaders: false,
    open(to) {
      receive = (message) => to.message(message)
      return Promise.resolve()
    },
    send(message) {
      if (message.method !== undefined) respond[message.method]?.(message)
      else {
        answers.push(message)
        const id = running.shift() ?? 0
        receive?.({ jsonrpc: '2.0', id, result: { answer: message.result ?? message.error } })
      }
      return Promise.resolve()
    },
    agreed() {},
    close: () => Promise.resolve(),
  }
  return { transport, answers }
}
const roots = { method: 'roots/list' }

test('a question during a request goes to the handlers of that request', async () => {
  const { transport } = asking(roots)
  const client = await connect(transport, { era: 'legacy', handlers: { roots: () => ({ roots: ['client'] }) } })
  expect(await client.callTool('a')).toEqual({ answer: { roots: ['client'] } })
  const handlers = { roots: () => ({ roots: ['request'] }) }
  expect(await client.callTool('a', {}, { handlers })).toEqual({ answer: { roots: ['request'] } })
})
test('a request that declares less is not asked more', async () => {
  const { transport, answers } = asking(roots)
  const client = await connect(transport, { era: 'legacy', handlers: { roots: () => ({ roots: [] }) } })
  await client.callTool('a', {}, { capabilities: {} })
  expect(answers[0]).toMatchObject({ error: { code: -32601 } })
})
test('a handler that fails is an error to the server, without its words', async () => {
  const { transport, answers } = asking(roots)
  const failing = (): never => {
    throw new Error('hunter2')
  }
  const client = await connect(transport, { era: 'legacy', handlers: { roots: failing } })
  await client.callTool('a')
  expect(answers[0]).toMatchObject({ error: { code: -32603 } })
  expect(JSON.stringify(answers)).not.toContain('hunter2')
})
test('sampling with tools needs its own capability', async () => {
  const { transport, answers } = asking({ method: 'sampling/createMessage', params: { messages: [], tools: [] } })
  const client = await connect(transport, { era: 'legacy', handlers: { sampling: () => ({}) } })
  await client.callTool('a')
  expect(answers[0]).toMatchObject({ error: { code: -32601 } })
})
test('a request that is not JSON leaves nothing behind', async () => {
  const { transport } = asking({ method: 'ping' })
  const clock = fakeClock()
  const notJson: Transport = {
    ...transport,
    send(message) {
      JSON.stringify(message)
      return transport.send(message)
    },
  }
  const client = await connect(notJson, { era: 'legacy', clock })
  await expect(client.callTool('a', { n: 1n })).rejects.toMatchObject({ reason: 'protocol', mayHaveRun: false })
  expect(clock.pending).toBe(0)
})
test('a ping is answered', async () => {
  const { transport, answers } = asking({ method: 'ping' })
  await (await connect(transport, { era: 'legacy' })).callTool('a')
  expect(answers[0]).toMatchObject({ result: {} })
})
