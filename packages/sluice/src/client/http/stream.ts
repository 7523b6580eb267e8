/** Reads one response stream of events to its end, or to the answer. */

import { ClientError } from '../errors.ts'
import type { Message } from '../message.ts'
import { parseMessage } from '../message.ts'
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
 * Resolves when the stream has ended. Throws only if the server broke the protocol. `deliver` takes a message, and
 * returns `true` if it was the last one that matters.
 */
export async function readStream(
  response: HttpResponse,
  maxMessageBytes: number,
  deliver: (message: Message) => boolean,
): Promise<StreamEnd> {
  const parser = createEventParser(maxMessageBytes)
  let answered = false
  let error: unknown
  try {
    reading: for await (const chunk of response.chunks())
      for (const { type, data } of parser.push(chunk)) {
        // An empty event only carries an id to resume from.
        if (type !== 'message' || data === '') continue
        if (deliver(parseMessage(data))) {
          answered = true
          break reading
        }
      }
  } catch (thrown) {
    if (thrown instanceof ClientError && thrown.reason !== 'closed') throw thrown
    error = thrown
  } finally {
    response.discard()
  }
  return { answered, lastEventId: parser.lastEventId, retryMs: parser.retryMs, error }
}
