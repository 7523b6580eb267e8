/**
 * The standalone stream of a legacy session: a GET on which the server sends notifications and questions that belong to
 * no request. Reopened when it breaks, from the last event id on; a server without one answers 405.
 */

import type { Clock } from '../../core/clock.ts'
import { ClientError } from '../errors.ts'
import type { Message } from '../message.ts'
import type { Flight } from './requester.ts'
import { abortFlight, pauseFlight } from './requester.ts'
import type { HttpResponse } from './sender.ts'
import { isEventStream, readStream } from './stream.ts'

export interface StandaloneStreamReader {
  open(): void
  close(): void
}

export interface StandaloneStreamDeps {
  request(headers: { readonly [name: string]: string }): Promise<HttpResponse>
  message(message: Message): void
  ignored(problem: string): void
  /** The server has no such session any longer. */
  ended(): void
  readonly maxMessageBytes: number
  readonly clock: Clock
}

const firstDelayMs = 1000
const maxDelayMs = 30_000

export function createStandaloneStreamReader(deps: StandaloneStreamDeps): StandaloneStreamReader {
  let current: Flight | undefined

  async function follow(flight: Flight): Promise<void> {
    let lastEventId: string | undefined
    let delayMs = firstDelayMs
    let wasOpen = false
    while (!flight.aborted) {
      const headers = {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      }
      const response = await deps.request(headers).catch(() => undefined)
      if (flight.aborted) return response?.discard()
      // 405: the server has no such stream. 404: the session has ended. A proxy answers 5xx while the server restarts.
      if (response?.status === 404) deps.ended()
      const isUnavailable = response !== undefined && wasOpen && (response.status === 429 || response.status >= 500)
      if (isUnavailable) response.discard()
      else if (response && (response.status >= 400 || !isEventStream(response))) return response.discard()
      else if (response) {
        wasOpen = true
        flight.abort = () => response.discard()
        const deliver = (message: Message): boolean => {
          delayMs = firstDelayMs
          deps.message(message)
          return false
        }
        const end = await readStream(response, deps.maxMessageBytes, deps.clock, deliver)
        lastEventId = end.lastEventId ?? lastEventId
        if (end.retryMs !== undefined) delayMs = Math.max(end.retryMs, 10)
      }
      if (flight.aborted) return
      await pauseFlight(flight, delayMs, deps.clock)
      delayMs = Math.min(delayMs * 2, maxDelayMs)
    }
  }

  return {
    open() {
      if (current) return
      const flight: Flight = { aborted: false }
      current = flight
      follow(flight)
        .catch((thrown: unknown) =>
          deps.ignored(thrown instanceof ClientError ? thrown.message : 'the standalone stream failed'),
        )
        .finally(() => {
          if (current === flight) current = undefined
        })
        // `finally` returns a promise too.
        .catch(() => {})
    },
    close() {
      if (current) abortFlight(current)
      current = undefined
    },
  }
}
