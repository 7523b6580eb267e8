/** Decides the required answer by the text of JSON-RPC 2.0, not by the code under test. */

import { isUtf8 } from 'node:buffer'
import type { Params } from 'sluice'
import { frame, UnsafeMessage } from '../../packages/sluice/src/core/frame.ts'
import { internalDetail } from '../kit/servers/attacked-server.fixture.ts'

const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Notifications and responses are never answered; everything else is, exactly once. */
export function wantsAnswer(message: unknown): boolean {
  if (Array.isArray(message)) return message.length === 0 || message.some(wantsAnswer)
  if (!isObject(message)) return true
  const { jsonrpc, method, id } = message
  if (method === undefined && ('result' in message || 'error' in message)) return false
  return jsonrpc !== '2.0' || typeof method !== 'string' || method === '' || id !== undefined
}

/** The same for bytes: unreadable ones are answered, because they may have been a request. */
export function bytesWantAnswer(bytes: Buffer): boolean {
  if (!isUtf8(bytes)) return true
  try {
    return wantsAnswer(frame(bytes.toString('utf8')))
  } catch (thrown) {
    return thrown instanceof UnsafeMessage ? wantsAnswer(thrown.value) : true
  }
}

/** Requests that may stay unanswered, because another message that came with them cancels their id. */
export function cancelledIn(messages: readonly unknown[]): ReadonlySet<unknown> {
  const cancelled = new Set<unknown>(
    messages.map((message) =>
      isObject(message) && message['method'] === 'notifications/cancelled' && isObject(message['params'])
        ? (message['params']['requestId'] ?? undefined)
        : undefined,
    ),
  )
  cancelled.delete(undefined)
  return new Set(messages.filter((message) => cancelled.has(readableId(message))))
}
/** The same for bytes. */
export function cancelledAmong(messages: readonly Buffer[]): ReadonlySet<Buffer> {
  const parsed = messages.map((bytes) => [bytes, parse(bytes)] as const)
  const cancelled = cancelledIn(parsed.map(([, message]) => message))
  return new Set(parsed.filter(([, message]) => cancelled.has(message)).map(([bytes]) => bytes))
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}

/** The id that a refusal may carry. */
export const readableId = (message: unknown): unknown => {
  const id = isObject(message) ? message['id'] : undefined
  const legal = typeof id === 'string' ? id.length <= 256 : Number.isSafeInteger(id) && !Object.is(id, -0)
  return legal ? id : undefined
}

/** Throws for anything that is not one valid JSON-RPC response without internal details. */
export function checkAnswer(answer: unknown, text: string = printed(answer)): void {
  const problem =
    problemWith(answer) ??
    (internalDetail.test(text) ? 'it contains an internal detail' : undefined) ??
    (/\\ud[89a-f]/.test(text) && !isWellFormed(answer) ? 'it contains half of a surrogate pair' : undefined)
  if (problem) throw new Error(`${problem}: ${text.slice(0, 2000)}`)
}

/** A tool's result may contain what JSON cannot. `handle` passes it on unchanged; `text` must answer with an error. */
function printed(answer: unknown): string {
  try {
    return JSON.stringify(answer)
  } catch {
    return ''
  }
}

/** Strict parsers refuse a whole message because of half a pair, and truncating a text can leave one. */
const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormed(inner))
}

function problemWith(answer: unknown): string | undefined {
  if (!isObject(answer) || answer['jsonrpc'] !== '2.0') return 'not a JSON-RPC response'
  const { id, error, result } = answer
  if ((error === undefined) === (result === undefined)) return 'not exactly one of result and error'
  if (result !== undefined && (!isObject(result) || id === undefined)) return 'not a valid result'
  if (id !== undefined && typeof id !== 'string' && !Number.isSafeInteger(id)) return 'not a valid id'
  if (error === undefined) return undefined
  if (!isObject(error) || !Number.isInteger(error['code']) || typeof error['message'] !== 'string')
    return 'not a valid error'
  const extra = Object.keys(error).filter((key) => key !== 'code' && key !== 'message' && key !== 'data')
  return extra.length > 0 ? 'additional members in the error' : undefined
}
