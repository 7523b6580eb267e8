/** A client of the fleet that sends one message at a time, to the process that a test chooses. */

import { expect } from 'vitest'
import { envelope, toInitialize } from './envelope.ts'
import type { ServerEvent } from './http-events.ts'
import { eventsOf, messagesOf, modernHeaders, post } from './http-events.ts'
import type { Params } from './protocol.ts'
import { resultOf } from './protocol.ts'

export type Headers = { readonly [name: string]: string }

export const toolCall = (name: string, args: Params = {}, id: string | number = name, meta: Params = {}): Params => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args, _meta: meta },
})

/** Opens a session of 2025-11-25 and returns the headers for later messages. */
export async function openSession(url: string, key: string): Promise<Headers> {
  const bearer = { authorization: `Bearer ${key}` }
  const params = toInitialize({ revision: '2025-11-25', capabilities: { elicitation: {}, sampling: {}, roots: {} } })
  const opened = await post(url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, bearer)
  expect(opened.status).toBe(200)
  return {
    ...bearer,
    'mcp-session-id': opened.headers.get('mcp-session-id') ?? '',
    'mcp-protocol-version': '2025-11-25',
  }
}

/** Returns the structured result of a tool, in a session or, without one, in 2026-07-28. */
export async function callTool(url: string, headers: Headers, name: string, args: Params = {}): Promise<Params> {
  const legacy = headers['mcp-session-id'] !== undefined
  const message = toolCall(name, args, `${name} ${Math.random()}`, legacy ? {} : envelope({}))
  const response = await post(url, message, { ...headers, ...(legacy ? {} : modernHeaders(message)) })
  expect(response.status).toBe(200)
  for await (const message of messagesOf(response)) {
    const result = resultOf(message as Params)
    if ('structuredContent' in result) return result['structuredContent'] as Params
  }
  throw new Error(`${name} was not answered`)
}

export async function openEventStream(url: string, headers: Headers): Promise<{ response: Response; drop(): void }> {
  const controller = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: controller.signal })
  return { response, drop: () => controller.abort() }
}

/** Returns the next event with a message; priming events are skipped. */
export async function nextMessage(events: AsyncGenerator<ServerEvent>): Promise<{ id: string; message: Params }> {
  for (;;) {
    const { value, done } = await events.next()
    if (done) throw new Error('The stream has ended')
    if (value.data) return { id: value.id ?? '', message: JSON.parse(value.data) as Params }
  }
}

export async function remainingMessages(response: Response): Promise<readonly Params[]> {
  const all: Params[] = []
  for await (const { data } of eventsOf(response)) if (data) all.push(JSON.parse(data) as Params)
  return all
}
