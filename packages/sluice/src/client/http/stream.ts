/** Reads one response stream of events to its end, or to the answer. */

import type { Clock } from '../../core/clock.ts'
import { monotonicNow } from '../../core/clock.ts'
import { ClientError } from '../errors.ts'
import type { Message } from '../message.ts'
import { parseMessage } from '../message.ts'
import { delay } from '../subscriptions.ts'
import { createEventParser } from './event-parser.ts'
import type { HttpResponse } from './sender.ts'

export interface StreamEnd {
  /** Whether `deliver` took the message that ends the stream. */
  readonly answered: boolean
  readonly lastEventId: string | undefined
  readonly retryMs: number | undefined
  /** Why the stream broke; `undefined` if the server ended it. */
  readonly error: unknown
}

export const isEventStream = (response: HttpResponse): boolean =>
  /^text\/event-stream\b/i.test(response.header('content-type') ?? '')

/**
 * What is read of a stream in a second. Lines and events cost more than their bytes. Otherwise a server that writes short
 * ones without pause would take the event loop from everything else.
 */
const bytesPerSecond = 32 * 1024 * 1024
const bytesPerLine = 64
const bytesPerEvent = 512
const secondMs = 1000

/**
 * Resolves when the stream has ended. Throws only if the server broke the protocol. `deliver` takes a message, and
 * returns `true` if it was the last one that matters.
 */
export async function readStream(
  response: HttpResponse,
  maxMessageBytes: number,
  clock: Clock,
  deliver: (message: Message) => boolean,
): Promise<StreamEnd> {
  const parser = createEventParser(maxMessageBytes)
  let answered = false
  let error: unknown
  let begin = monotonicNow(clock)
  let read = 0
  try {
    reading: for await (const chunk of response.chunks()) {
      const before = parser.lines
      const events = parser.push(chunk)
      for (const { type, data } of events) {
        // An empty event only carries an id to resume from.
        if (type !== 'message' || data === '') continue
        if (deliver(parseMessage(data))) {
          answered = true
          break reading
        }
      }
      read += chunk.length + (parser.lines - before) * bytesPerLine + events.length * bytesPerEvent
      if (read <= bytesPerSecond) continue
      const leftMs = begin + secondMs - monotonicNow(clock)
      if (leftMs > 0) await delay(leftMs, undefined, clock)
      begin = monotonicNow(clock)
      read = 0
    }
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.reason !== 'closed') throw thrown
    error = thrown
  } finally {
    response.discard()
  }
  return { answered, lastEventId: parser.lastEventId, retryMs: parser.retryMs, error }
}
