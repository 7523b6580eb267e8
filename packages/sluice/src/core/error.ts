/**
 * Failures that the client is meant to read. Each has a named reason; its number is looked up once, when it is sent,
 * per era.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic forbids new codes in −32000…−32019 and undefined ones
 * in −32020…−32099. Our codes lie outside that range on 2026-07-28.
 */

import type { Params } from './json.ts'

/** The reason for a refusal. The table below has its number. */
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
  | 'upstreamUnavailable'
  | 'upstreamInDoubt'
  | 'upstreamError'
  | 'timeout'
  | 'cancelled'
  | 'headerMismatch'
  | 'missingCapability'
  | 'unsupportedVersion'
  | 'invalidEnvelope'
  | 'urlRequired'

/** The code of each reason before 2026-07-28, and from then on if it differs. */
const codes: { readonly [reason in Reason]: readonly [legacy: number, modern?: number] } = {
  parseError: [-32700],
  invalidRequest: [-32600],
  methodNotFound: [-32601],
  invalidParams: [-32602],
  internalError: [-32603],
  /** One refusal for a name without a definition and for a name that the caller may not see. */
  unknownTool: [-32602],
  unknownPrompt: [-32602],
  resourceNotFound: [-32002, -32602],
  /** The arguments fail the tool's schema. Inside tools/call it leaves as a tool error result. */
  invalidArguments: [-32602],
  /** The tool reported what went wrong. Inside tools/call it leaves as a tool error result. */
  toolFailed: [-32603],
  /** The tool threw another error, which is a bug. Its text is not sent. */
  toolCrashed: [-32603],
  /**
   * The result of the definition is larger than `maxResultLength`. Inside tools/call it leaves as a tool error result.
   */
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
  /**
   * A person denied the call. Inside tools/call it leaves as a tool error result, because the model should read why.
   */
  approvalDenied: [-32004, 40304],
  /**
   * The effect of the call changed after the approval was requested. It leaves as a tool error result, like a denial.
   */
  approvalVoid: [-32004, 40305],
  conflict: [-32005, 40900],
  sessionMissing: [-32600],
  sessionNotFound: [-32600],
  storeUnavailable: [-32006, 50302],
  /** A server behind the gateway cannot be reached. The call did not run. Inside tools/call it leaves as a tool error result. */
  upstreamUnavailable: [-32010, 50303],
  /**
   * A server behind the gateway failed after it got the call. The call may have run and is not repeated. Inside
   * tools/call it leaves as a tool error result.
   */
  upstreamInDoubt: [-32011, 50304],
  /** A server behind the gateway answered with an error. Its own code is sent instead of this one. */
  upstreamError: [-32603],
  timeout: [-32008, 50400],
  /** Never sent, because a cancelled call has no answer. The numbers are for the log. */
  cancelled: [-32009, 49900],
  headerMismatch: [-32602, -32020],
  missingCapability: [-32602, -32021],
  unsupportedVersion: [-32602, -32022],
  /** A request of 2026-07-28 whose `_meta` lacks what every request must carry. */
  invalidEnvelope: [-32602],
  /** Only 2025-11-25 has this code. Other revisions are asked in their own way. */
  urlRequired: [-32042, -32602],
}

/** Selects one of the two columns. */
export type Era = 'legacy' | 'modern'

export interface RpcErrorDetails {
  /**
   * Details that help the client: `retryAfterMs`, `supported`, `available_tools`, … They are sent unchanged, so they
   * must not be secret.
   */
  readonly data?: Params
  /** The code to send instead of the reason's, for an error that another server made. */
  readonly code?: number | undefined
  readonly cause?: unknown
}

/** A failure that the client may read. Any other thrown value is a bug, and its text is not sent. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly reason: Reason
  readonly data: Params
  readonly code: number | undefined
  constructor(reason: Reason, message: string, { data = {}, code, cause }: RpcErrorDetails = {}) {
    // Quotes of a client's text are cut, and half of a surrogate pair makes strict parsers refuse the answer.
    super(message.toWellFormed(), cause === undefined ? undefined : { cause })
    this.reason = reason
    this.data = data
    this.code = code
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

/**
 * Converts a thrown value for the wire. Every thrown value passes here, so that messages and stacks of bugs are never
 * sent.
 */
export function toWire(thrown: unknown, era: Era, reference: string): WireError {
  if (!(thrown instanceof RpcError))
    return {
      code: codeOf('internalError', era),
      message: 'Internal error',
      data: { reason: 'internalError', reference },
    }
  const { reason, message, data } = thrown
  return { code: thrown.code ?? codeOf(reason, era), message, data: { reason, reference, ...data } }
}

/** Returns an error that tells the sender what is wrong with the params. */
export const invalidParams = (problem: string): RpcError => new RpcError('invalidParams', `Invalid params: ${problem}`)

/** Returns an error that tells the sender what is wrong with the message. */
export const invalidRequest = (problem: string): RpcError =>
  new RpcError('invalidRequest', `Invalid request: ${problem}`)

/** The refusal of a store whose database does not answer. */
export const storeUnavailable = (state: string, cause?: unknown): RpcError =>
  new RpcError('storeUnavailable', `The store is ${state}`, { cause })

/** Returns the refusal of a call that needs what the client did not declare. */
export const missingCapability = (requiredCapabilities: Params): RpcError =>
  new RpcError('missingCapability', 'This needs a client capability that was not declared', {
    data: { requiredCapabilities },
  })

/** Returns a failure that the model should read: `throw fail('Only 3 seats are left')`. */
export const fail = (text: string): RpcError => new RpcError('toolFailed', text)

/**
 * Returns the type, message and stack of a bug, for the operator only. `undefined` if the thrown value is not a bug.
 */
export function bugOf(thrown: unknown): Bug | undefined {
  if (thrown instanceof RpcError && thrown.reason !== 'toolCrashed') return undefined
  const bug = thrown instanceof RpcError ? thrown.cause : thrown
  if (!(bug instanceof Error))
    return { errorType: typeof bug, errorMessage: 'something that is not an Error was thrown' }
  try {
    return { errorType: bug.name, errorMessage: bug.message, ...(bug.stack !== undefined && { stack: bug.stack }) }
  } catch {
    // Its getters throw. Without this catch, the log line with its error id would be lost.
    return { errorType: 'Error', errorMessage: 'an Error that cannot be read was thrown' }
  }
}

/** Returns the message of a thrown value, bounded: another party may have written it. */
export const messageOf = (thrown: unknown, otherwise = ''): string =>
  thrown instanceof Error ? thrown.message.slice(0, 300) : otherwise

export interface Bug {
  readonly errorType: string
  readonly errorMessage: string
  readonly stack?: string
}

/** Returns what the log says of a thrown value: the text that the client reads, or the bug. */
export const detailOf = (thrown: unknown): { readonly message: string } | Bug | undefined =>
  thrown instanceof RpcError ? { message: thrown.message } : bugOf(thrown)

/** Returns the reason of a thrown value. Any but an `RpcError` is a bug. */
export const reasonOf = (thrown: unknown): Reason => (thrown instanceof RpcError ? thrown.reason : 'internalError')
