/**
 * Server-Sent Events, chunk by chunk. The length of one event is bounded, so that a server that never ends a line cannot
 * fill the memory.
 *
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

import type { Mutable } from '../../core/mutable.ts'
import { ClientError } from '../errors.ts'

export interface ServerSentEvent {
  readonly type: string
  readonly data: string
}

export interface EventParser {
  /** Takes the next bytes and returns the events that are complete. */
  push(chunk: Uint8Array): readonly ServerSentEvent[]
  /** How many lines were read. Each costs time, also an empty one. */
  readonly lines: number
  /** The id of the last event that had one: where to resume. */
  readonly lastEventId: string | undefined
  /** How long the server asks clients to wait before they reconnect. */
  readonly retryMs: number | undefined
}

export function createEventParser(maxEventBytes: number): EventParser {
  const decoder = new TextDecoder()
  let rest = ''
  let type = ''
  let data: string[] = []
  let size = 0
  let endedWithReturn = false

  function checkSize(bytes: number): void {
    if (bytes > maxEventBytes)
      throw new ClientError('tooLarge', `The server sent an event of more than ${maxEventBytes} bytes`)
  }
  function line(text: string, events: ServerSentEvent[]): void {
    if (text === '') {
      if (data.length > 0) events.push({ type: type === '' ? 'message' : type, data: data.join('\n') })
      type = ''
      data = []
      size = 0
      return
    }
    const colon = text.indexOf(':')
    const name = colon === -1 ? text : text.slice(0, colon)
    const value = colon === -1 ? '' : text.slice(text.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1)
    if (name === 'data') {
      size += value.length
      checkSize(size)
      data.push(value)
    } else if (name === 'event') type = value
    else if (name === 'id') {
      if (!value.includes('\0')) parser.lastEventId = value
    } else if (name === 'retry' && /^\d{1,9}$/.test(value)) parser.retryMs = Number(value)
  }

  const parser: Mutable<EventParser> = {
    ...{ lines: 0, lastEventId: undefined, retryMs: undefined },
    push(chunk) {
      let text = decoder.decode(chunk, { stream: true })
      if (endedWithReturn && text.startsWith('\n')) text = text.slice(1)
      if (text !== '') endedWithReturn = text.endsWith('\r')
      const events: ServerSentEvent[] = []
      let start = 0
      for (let i = 0; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code !== 10 && code !== 13) continue
        parser.lines++
        line(start === 0 ? rest + text.slice(0, i) : text.slice(start, i), events)
        if (start === 0) rest = ''
        if (code === 13 && text.charCodeAt(i + 1) === 10) i++
        start = i + 1
      }
      rest = start === 0 ? rest + text : text.slice(start)
      checkSize(size + rest.length)
      return events
    },
  }
  return parser
}
