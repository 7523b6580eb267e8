/** Plain HTTP and server-sent events, one step at a time. */

import type { Params } from './protocol.ts'
import { isObject } from './protocol.ts'

export interface ServerEvent {
  readonly id?: string
  readonly retry?: number
  /** Absent without a `data` line, `''` for an empty one. */
  readonly data?: string
}

export const jsonHeaders: { readonly [name: string]: string } = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

export const post = (
  url: string,
  message: unknown,
  headers: { readonly [name: string]: string } = {},
  signal?: AbortSignal,
): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { ...jsonHeaders, ...headers },
    body: JSON.stringify(message),
    ...(signal && { signal }),
  })

export const isStream = (response: Response): boolean => response.headers.get('content-type') === 'text/event-stream'

/** Yields the events of a response as they arrive; comments are skipped. */
export async function* eventsOf(response: Response): AsyncGenerator<ServerEvent> {
  let rest = ''
  if (!response.body) return
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${piece}`.split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const event = parseEvent(block)
      if (event) yield event
    }
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const fields = block
    .split('\n')
    .filter((line) => !line.startsWith(':'))
    .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trimStart()] as const)
  const { id, retry, data } = Object.fromEntries(fields)
  if (fields.length === 0) return undefined
  return {
    ...(id !== undefined && { id }),
    ...(retry !== undefined && { retry: Number(retry) }),
    ...(data !== undefined && { data }),
  }
}

/** Yields the messages of a response, in either form. */
export async function* messagesOf(response: Response): AsyncGenerator<unknown> {
  if (isStream(response)) {
    for await (const { data } of eventsOf(response)) if (data) yield JSON.parse(data)
  } else {
    const text = await response.text()
    if (text !== '') yield JSON.parse(text)
  }
}

/** Returns the headers in which 2026-07-28 repeats parts of a request. */
export function modernHeaders({ method, params }: Params): { [name: string]: string } {
  const { name, uri } = isObject(params) ? params : {}
  const named =
    method === 'tools/call' || method === 'prompts/get' ? name : method === 'resources/read' ? uri : undefined
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': String(method),
    ...(named !== undefined && { 'mcp-name': String(named) }),
  }
}
