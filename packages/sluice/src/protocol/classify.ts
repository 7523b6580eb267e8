/**
 * Classifies a message before any code acts on it: request, notification or response, with its era and revision. This
 * is all that a transport must know of MCP.
 */

import type { Via } from '../core/call.ts'
import { invalidParams, invalidRequest, RpcError } from '../core/error.ts'
import type { Id, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { negotiate } from './legacy/negotiate.ts'
import { checkEnvelope } from './modern/envelope.ts'
import type { RevisionName } from './revisions.ts'
import { isLegacy, metaKeys, modernRevision, newestLegacy, revisions, unnamedOverHttp } from './revisions.ts'

export interface RequestEnvelope {
  readonly kind: 'request'
  readonly id: Id
  readonly method: string
  readonly params: Params
  readonly meta: Params
  readonly revision: RevisionName
  readonly capabilities: Params
}
export interface NotificationEnvelope {
  readonly kind: 'notification'
  readonly method: string
  readonly params: Params
  readonly revision: RevisionName
}
export interface ResponseEnvelope {
  readonly kind: 'response'
  readonly id: unknown
  readonly message: Params
}
export type Envelope = RequestEnvelope | NotificationEnvelope | ResponseEnvelope

const emptyParams: Params = {}

/** Throws an `RpcError`. `idOf` returns the id that the refusal answers. */
export function classify(message: unknown, via: Via): Envelope {
  if (!isObject(message)) throw invalidRequest('expected one JSON-RPC object')
  const { jsonrpc, method, id, params = emptyParams } = message
  if (isResponse(message)) return classifyResponse(message, via)
  if (typeof method !== 'string' || method === '') throw invalidRequest('missing method field')
  assertJsonRpcVersion(jsonrpc)
  if (id !== undefined && !isId(id))
    throw invalidRequest('id must be a string of at most 256 characters or a safe integer')
  if (!isObject(params)) throw invalidParams('params must be an object')
  const meta = params['_meta'] ?? emptyParams
  const modern = isModern(meta, method, via)
  if (!isObject(meta))
    throw new RpcError(modern ? 'invalidEnvelope' : 'invalidParams', 'Invalid params: _meta must be an object')
  if (id === undefined)
    return { kind: 'notification', method, params, revision: modern ? modernRevision : legacyRevision(via) }
  const revision = modern ? modernRevision : method === 'initialize' ? negotiate(params) : legacyRevision(via)
  const capabilities = modern
    ? checkEnvelope(method, params, meta, via)
    : (via.connection?.state.agreed?.capabilities ?? emptyParams)
  return { kind: 'request', id, method, params, meta, revision, capabilities }
}

function classifyResponse(message: Params, via: Via): ResponseEnvelope {
  assertJsonRpcVersion(message['jsonrpc'])
  if (via.transport === 'http' && headerVersion(via) === modernRevision)
    throw invalidRequest('2026-07-28 has no requests to clients')
  // Throws for an unsupported version.
  legacyRevision(via)
  return { kind: 'response', id: message['id'], message }
}

/** Returns the id for a refusal; `undefined` if it cannot be read, and then the refusal has no id. */
export const idOf = (message: unknown): Id | undefined =>
  isObject(message) && isId(message['id']) ? message['id'] : undefined

/** Returns the method of a request or a notification. A response has none. */
export const methodOf = (message: unknown): string | undefined =>
  isObject(message) && typeof message['method'] === 'string' ? message['method'] : undefined

/** Ignores errors in the id or version. Otherwise two sides could answer each other's answers endlessly. */
const isResponse = (message: Params): boolean =>
  message['method'] === undefined && ('result' in message || 'error' in message)

/**
 * Returns whether the message is a notification or a response, or a batch of these. They are never answered, not even
 * with a refusal.
 */
export function isOneWay(message: unknown): boolean {
  if (Array.isArray(message)) return message.length > 0 && message.every(isOneWay)
  if (!isObject(message)) return false
  const { jsonrpc, method, id } = message
  return isResponse(message) || (jsonrpc === '2.0' && typeof method === 'string' && method !== '' && id === undefined)
}
/** Returns whether any message is one-way. No layer sees such a message, so the transport authorizes its sender. */
export const hasOneWay = (message: unknown): boolean =>
  Array.isArray(message) ? message.some(isOneWay) : isOneWay(message)

/**
 * Returns whether the message is a log or progress notification. For a client that does not read, these matter less
 * than its connection.
 */
export const isDroppable = (message: object): boolean =>
  'method' in message && (message.method === 'notifications/message' || message.method === 'notifications/progress')

const isId = (id: unknown): id is Id =>
  typeof id === 'string' ? id.length <= 256 : typeof id === 'number' && Number.isSafeInteger(id) && !Object.is(id, -0)

function assertJsonRpcVersion(version: unknown): void {
  if (version === '2.0') return
  const shown = typeof version === 'string' ? `'${version.slice(0, 16)}'` : typeof version
  throw invalidRequest(`invalid JSON-RPC version: got ${shown}, expected '2.0'`)
}

const headerVersion = (via: Via): string | undefined => via.header('mcp-protocol-version')?.trim()

/**
 * Returns whether the message is modern. A broken envelope never falls back to the legacy era. A client that names the
 * version in `_meta`, or a modern version in the header, is answered as a modern client. `initialize` without an
 * envelope is always the legacy handshake.
 */
function isModern(meta: unknown, method: string, via: Via): boolean {
  if (isObject(meta) && meta[metaKeys.version] !== undefined) return true
  return method !== 'initialize' && via.transport === 'http' && headerVersion(via) === modernRevision
}

/**
 * Returns what HTTP must know before it passes a message on: whether it opens a session, belongs to one, or needs none.
 */
export function routeOf(message: unknown, via: Via): 'alone' | 'initialize' | 'session' {
  if (!isObject(message)) return Array.isArray(message) && headerVersion(via) !== modernRevision ? 'session' : 'alone'
  const { method, params } = message
  if (typeof method !== 'string')
    return isResponse(message) && headerVersion(via) !== modernRevision ? 'session' : 'alone'
  if (isModern(isObject(params) ? params['_meta'] : undefined, method, via)) return 'alone'
  return method === 'initialize' ? 'initialize' : 'session'
}

/** Returns the revision of a message without an envelope: the session's, else the header's, else the default. */
export function legacyRevision(via: Via): RevisionName {
  const header = via.transport === 'http' ? headerVersion(via) : undefined
  if (header !== undefined && !isLegacy(header))
    throw new RpcError(
      'unsupportedVersion',
      `Invalid request: unsupported MCP-Protocol-Version ${header.slice(0, 64)}`,
      {
        data: { supported: Object.keys(revisions), requested: header.slice(0, 64) },
      },
    )
  const agreed = via.connection?.state.agreed?.revision
  if (isLegacy(agreed)) return agreed
  return header ?? (via.transport === 'http' ? unnamedOverHttp : newestLegacy)
}
