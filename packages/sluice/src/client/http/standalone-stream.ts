/**
 * The standalone stream of a legacy session: a GET on which the server sends notifications and questions that belong to
 * no request. Reopened when it breaks, from the last event id on; a server without one answers 405.
 */

import type { Clock } from '../../core/clock.ts'
import { ClientError } from '../errors.ts'
import type { Message } from '../message.ts'
import type { HttpResponse } from './sender.ts'
import { readStream } from './stream.ts'

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
  let current: { closed: boolean; release(): void } | undefined

  async function follow(life: { closed: boolean; release(): void }): Promise<void> {
    let lastEventId: string | undefined
    let delayMs = firstDelayMs
    while (!life.closed) {
      const headers = {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      }
      const response = await deps.request(headers).catch(() => undefined)
      if (life.closed) return response?.discard()
      // 405: the server has no such stream. 404: the session has ended.
      if (response?.status === 404) deps.ended()
      if (response && (response.status >= 400 || !/^text\/event-stream\b/i.test(response.header('content-type') ?? '')))
        return response.discard()
      if (response) {
        life.release = () => response.discard()
        const deliver = (message: Message): boolean => {
          delayMs = firstDelayMs
          deps.message(message)
          return false
        }
        const end = await readStream(response, { deliver, maxMessageBytes: deps.maxMessageBytes })
        lastEventId = end.lastEventId ?? lastEventId
        if (end.retryMs !== undefined) delayMs = Math.max(end.retryMs, 10)
      }
      if (life.closed) return
      await new Promise<void>((resolve) => {
        const cancelTimer = deps.clock.after(delayMs, resolve)
        life.release = () => {
          cancelTimer()
          resolve()
        }
      })
      delayMs = Math.min(delayMs * 2, maxDelayMs)
    }
  }

  return {
    open() {
      if (current) return
      const life = { closed: false, release: () => {} }
      current = life
      follow(life)
        .catch((thrown: unknown) =>
          deps.ignored(thrown instanceof ClientError ? thrown.message : 'the standalone stream failed'),
        )
        .finally(() => {
          if (current === life) current = undefined
        })
        // `finally` returns a promise too.
        .catch(() => {})
    },
    close() {
      if (!current) return
      current.closed = true
      current.release()
      current = undefined
    },
  }
}
