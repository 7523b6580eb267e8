/**
 * Failures the client is meant to read: a reason with a name. The number is looked up once, on the way out, per era.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic — 2026-07-28 forbids new codes in −32000…−32019 and
 * undefined ones in −32020…−32099, so ours lie outside the reserved range there.
 */

import type { Params } from './json.ts'

/** Why the client is refused. The table below says which number that is. */
export type Reason =
  | 'parseError'
  | 'invalidRequest'
  | 'methodNotFound'
  | 'invalidParams'
  | 'internalError'
  | 'unknownTool'
  | 'unknownPrompt'
  | 'resourceNotFound'
  | 'invalidArguments'
  | 'toolFailed'
  | 'toolCrashed'
  | 'resultTooLarge'
  | 'payloadTooLarge'
  | 'unsupportedMedia'
  | 'notAcceptable'
  | 'badOrigin'
  | 'methodNotAllowed'
  | 'overloaded'
  | 'shuttingDown'
  | 'rateLimited'
  | 'unauthorized'
  | 'forbidden'
  | 'insufficientScope'
  | 'approvalInvalid'
  | 'approvalDenied'
  | 'approvalVoid'
  | 'conflict'
  | 'sessionMissing'
  | 'sessionNotFound'
  | 'storeUnavailable'
  | 'timeout'
  | 'cancelled'
  | 'headerMismatch'
  | 'missingCapability'
  | 'unsupportedVersion'
  | 'invalidEnvelope'
  | 'urlRequired'

/** Reason → code before 2026-07-28, and from then on where that differs. */
const codes: { readonly [reason in Reason]: readonly [legacy: number, modern?: number] } = {
  parseError: [-32700],
  invalidRequest: [-32600],
  methodNotFound: [-32601],
  invalidParams: [-32602],
  internalError: [-32603],
  /** The one refusal for a name nobody defined and for one the caller may not see. */
  unknownTool: [-32602],
  unknownPrompt: [-32602],
  resourceNotFound: [-32002, -32602],
  /** Arguments that fail the tool's schema. Inside tools/call it leaves as a tool error result. */
  invalidArguments: [-32602],
  /** The tool itself said what went wrong. Inside tools/call it leaves as a tool error result. */
  toolFailed: [-32603],
  /** The tool threw something else: a bug. Its text stays inside. */
  toolCrashed: [-32603],
  /** What the definition returned is past `maxResultLength`. Inside tools/call it leaves as a tool error result. */
  resultTooLarge: [-32603],
  payloadTooLarge: [-32600, 41300],
  unsupportedMedia: [-32600, 41500],
  notAcceptable: [-32600, 40600],
  badOrigin: [-32600, 40310],
  methodNotAllowed: [-32600, 40500],
  overloaded: [-32000, 50300],
  shuttingDown: [-32000, 50300],
  rateLimited: [-32000, 42900],
  unauthorized: [-32001, 40100],
  forbidden: [-32003, 40300],
  insufficientScope: [-32003, 40300],
  approvalInvalid: [-32004, 40303],
  /** A person said no. Inside tools/call it leaves as a tool error result: the model should read why. */
  approvalDenied: [-32004, 40304],
  /** What the call acts on changed after the approval was asked for. Leaves as a tool error result, like a denial. */
  approvalVoid: [-32004, 40305],
  conflict: [-32005, 40900],
  sessionMissing: [-32600],
  sessionNotFound: [-32600],
  storeUnavailable: [-32006, 50302],
  timeout: [-32008, 50400],
  /** Never sent: a cancelled call has no answer. The numbers stand for the log. */
  cancelled: [-32009, 49900],
  headerMismatch: [-32602, -32020],
  missingCapability: [-32602, -32021],
  unsupportedVersion: [-32602, -32022],
  /** A request of 2026-07-28 whose `_meta` lacks what every request must carry. */
  invalidEnvelope: [-32602],
  /** Only 2025-11-25 has this code; other revisions are asked in their own way. */
  urlRequired: [-32042, -32602],
}

/** Which of the two columns a revision reads. */
export type Era = 'legacy' | 'modern'

export interface RpcErrorDetails {
  /** What helps the client: `retryAfterMs`, `supported`, `available_tools`, … Sent as it is, so nothing secret. */
  readonly data?: Params
  readonly cause?: unknown
}

/** A failure the client may read. Whatever else is thrown is a bug, and stays inside. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly reason: Reason
  readonly data: Params
  constructor(reason: Reason, message: string, { data = {}, cause }: RpcErrorDetails = {}) {
    // What a client sent is cut where it is quoted, and half of a surrogate pair makes strict parsers refuse the answer.
    super(message.toWellFormed(), cause === undefined ? undefined : { cause })
    this.reason = reason
    this.data = data
  }
}

export function codeOf(reason: Reason, era: Era): number {
  const [legacy, modern = legacy] = codes[reason]
  return era === 'legacy' ? legacy : modern
}

export interface WireError {
  readonly code: number
  readonly message: string
  readonly data: Params
}

/** The only door out for a thrown value: messages and stacks of bugs do not pass it. */
export function toWire(thrown: unknown, era: Era, reference: string): WireError {
  if (!(thrown instanceof RpcError))
    return {
      code: codeOf('internalError', era),
      message: 'Internal error',
      data: { reason: 'internalError', reference },
    }
  const { reason, message, data } = thrown
  return { code: codeOf(reason, era), message, data: { reason, reference, ...data } }
}

/** Something about what was sent, in words for whoever sent it. */
export const invalidParams = (problem: string): RpcError => new RpcError('invalidParams', `Invalid params: ${problem}`)

/** A failure the model should read: `throw fail('Only 3 seats are left')`. */
export const fail = (text: string): RpcError => new RpcError('toolFailed', text)

/** What is nobody's business but the operator's: type, message and stack of what was thrown. Not for the client. */
export function bugOf(thrown: unknown): Bug | undefined {
  if (thrown instanceof RpcError && thrown.reason !== 'toolCrashed') return undefined
  const bug = thrown instanceof RpcError ? thrown.cause : thrown
  if (!(bug instanceof Error))
    return { errorType: typeof bug, errorMessage: 'something that is not an Error was thrown' }
  try {
    return { errorType: bug.name, errorMessage: bug.message, ...(bug.stack !== undefined && { stack: bug.stack }) }
  } catch {
    // Its getters throw; without this the line with its reference would be lost.
    return { errorType: 'Error', errorMessage: 'an Error that cannot be read was thrown' }
  }
}
export interface Bug {
  readonly errorType: string
  readonly errorMessage: string
  readonly stack?: string
}

/** Returns an id for one failure, record or process: short enough to read out, long enough not to repeat in a day's log. */
export const newErrorId = (): string => crypto.randomUUID().slice(0, 13)
