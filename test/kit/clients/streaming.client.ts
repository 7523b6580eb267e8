/** The client's end of a channel that all messages share: an event stream or a socket. */

import type { Params } from 'sluice'
import { WebSocket } from 'ws'

/** A queue of messages in order; the first to wait gets the first. */
function createQueue(): { put(message: Params): void; next(): Promise<Params> } {
  const came: Params[] = []
  const waiting: ((message: Params) => void)[] = []
  return {
    put(message) {
      const first = waiting.shift()
      if (first) first(message)
      else came.push(message)
    },
    next() {
      const first = came.shift()
      return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve))
    },
  }
}

export interface EventStream {
  /** The data of the first event. */
  readonly endpoint: Promise<string>
  next(): Promise<Params>
  close(): void
}

export async function openEventStream(
  url: string,
  headers: { readonly [name: string]: string } = {},
): Promise<EventStream> {
  const closing = new AbortController()
  const response = await fetch(url, { headers: { accept: 'text/event-stream', ...headers }, signal: closing.signal })
  if (response.status !== 200) throw new Error(`No stream: ${response.status}`)
  const endpoint = Promise.withResolvers<string>()
  const queue = createQueue()
  async function read(): Promise<void> {
    let rest = ''
    const decoder = new TextDecoder()
    for await (const bytes of response.body ?? []) {
      const events = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
      rest = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (data === undefined) continue
        if (event.includes('event: endpoint')) endpoint.resolve(data)
        else queue.put(JSON.parse(data))
      }
    }
  }
  read().catch(() => {})
  return { endpoint: endpoint.promise, next: queue.next, close: () => closing.abort() }
}

export interface OpenSocket {
  readonly ws: WebSocket
  next(): Promise<Params>
  readonly closed: Promise<{ readonly text: undefined; readonly closed: number }>
}

export async function openSocket(url: string, headers: { readonly [name: string]: string } = {}): Promise<OpenSocket> {
  const ws = new WebSocket(url, 'mcp', { headers })
  const queue = createQueue()
  ws.on('message', (data: Buffer) => queue.put(JSON.parse(data.toString())))
  const closed = new Promise<{ text: undefined; closed: number }>((resolve) => {
    ws.on('close', (code) => resolve({ text: undefined, closed: code }))
  })
  await new Promise<void>((resolve, reject) => {
    ws.on('open', resolve)
    ws.on('error', reject)
  })
  return { ws, next: queue.next, closed }
}
