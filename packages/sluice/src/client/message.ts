/** JSON-RPC as the client reads it: one text, one message, within limits. Unknown members are kept. */

import type { Id, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { ClientError } from './errors.ts'

/** A JSON-RPC message. What a server sends is unknown until it is looked at. */
export interface Message {
  readonly jsonrpc: '2.0'
  readonly id?: Id
  readonly method?: string
  readonly params?: Params
  readonly result?: unknown
  readonly error?: unknown
}

/** The longest message a client takes by default, in bytes. A server that sends more must not fill the memory. */
export const defaultMaxMessageBytes: number = 16 * 1024 * 1024

/** Deeper values overflow the stack of programs that walk them, `JSON.stringify` included. */
const maxDepth = 256

/** The shortest message is `{"error":0}`. */
const minLength = 11

/** Whether a text may be a message. Other texts are mostly found out without the cost of an exception. */
export const mayBeMessage = (text: string): boolean => text.length >= minLength && /^\s*\{/.test(text)

/** Parses the text of one message. Throws a `ClientError` and nothing else. */
export function parseMessage(text: string): Message {
  if (text.length > maxDepth && isTooDeep(text))
    throw new ClientError('protocol', `The server sent a message that is nested deeper than ${maxDepth}`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ClientError('protocol', 'The server sent a message that is not valid JSON', { cause })
  }
  return toMessage(value)
}

/** Returns a parsed value as a message, or throws if it is not one. */
export function toMessage(value: unknown): Message {
  if (!isObject(value)) throw new ClientError('protocol', 'The server sent a message that is not a JSON-RPC object')
  const { id, method, params } = value
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number')
    throw new ClientError('protocol', 'The server sent a message whose id is neither a string nor a number')
  if (method !== undefined && typeof method !== 'string')
    throw new ClientError('protocol', 'The server sent a message whose method is not a string')
  if (method !== undefined && params !== undefined && !isObject(params))
    throw new ClientError('protocol', 'The server sent a message whose params are not an object')
  if (method === undefined && !('result' in value) && !('error' in value))
    throw new ClientError('protocol', 'The server sent a message that is neither request, notification nor response')
  return value as unknown as Message
}

function isTooDeep(text: string): boolean {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === 34) {
      i = endOfString(text, i)
      if (i === -1) return false
    } else if (code === 123 || code === 91) {
      if (++depth > maxDepth) return true
    } else if (code === 125 || code === 93) depth--
  }
  return false
}

/** Returns the index of the closing quote, or −1. A quote after an odd number of backslashes belongs to the string. */
function endOfString(text: string, start: number): number {
  for (let i = text.indexOf('"', start + 1); i !== -1; i = text.indexOf('"', i + 1)) {
    let slashes = 0
    while (text.charCodeAt(i - 1 - slashes) === 92) slashes++
    if (slashes % 2 === 0) return i
  }
  return -1
}
