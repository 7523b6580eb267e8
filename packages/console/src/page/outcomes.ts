/** The outcomes of calls in words and colours, for all pages. The raw outcome is in the log and the metrics. */

import type { EndedCall } from 'sluice/extend'

type CallOutcome = EndedCall['outcome']
type Tone = 'good' | 'bad' | 'warn'
/** Every outcome has words, so that no page shows a name of the code. */
const words: { readonly [outcome in CallOutcome]: readonly [word: string, tone: Tone] } = {
  complete: ['succeeded', 'good'],
  task: ['became a task', 'good'],
  approval_required: ['waits for an approval', 'warn'],
  input_required: ['waits for an answer', 'warn'],
  toolError: ['reported an error', 'bad'],
  toolFailed: ['failed', 'bad'],
  toolCrashed: ['crashed', 'bad'],
  internalError: ['failed by a bug', 'bad'],
  resultTooLarge: ['result too large', 'bad'],
  approvalDenied: ['denied', 'bad'],
  approvalInvalid: ['no valid approval', 'bad'],
  approvalVoid: ['approval void', 'bad'],
  badOrigin: ['refused: foreign web page', 'bad'],
  cancelled: ['cancelled', 'bad'],
  conflict: ['in conflict', 'bad'],
  forbidden: ['not allowed', 'bad'],
  headerMismatch: ['headers differ from the message', 'bad'],
  insufficientScope: ['lacks a scope', 'bad'],
  invalidArguments: ['invalid arguments', 'bad'],
  invalidParams: ['invalid arguments', 'bad'],
  invalidEnvelope: ['invalid message', 'bad'],
  invalidRequest: ['invalid message', 'bad'],
  methodNotAllowed: ['wrong HTTP method', 'bad'],
  methodNotFound: ['unknown method', 'bad'],
  missingCapability: ['the client lacks a capability', 'bad'],
  notAcceptable: ['no accepted media type', 'bad'],
  overloaded: ['refused: overloaded', 'bad'],
  parseError: ['not JSON', 'bad'],
  payloadTooLarge: ['message too large', 'bad'],
  rateLimited: ['refused: too many calls', 'bad'],
  resourceNotFound: ['unknown or hidden', 'bad'],
  sessionMissing: ['no session', 'bad'],
  sessionNotFound: ['unknown session', 'bad'],
  shuttingDown: ['refused: shutting down', 'bad'],
  storeUnavailable: ['store unavailable', 'bad'],
  timeout: ['timed out', 'bad'],
  unknownPrompt: ['unknown or hidden', 'bad'],
  unsupportedMedia: ['wrong media type', 'bad'],
  unsupportedVersion: ['unknown protocol version', 'bad'],
  upstreamError: ['upstream error', 'bad'],
  upstreamInDoubt: ['in doubt', 'bad'],
  upstreamUnavailable: ['upstream unavailable', 'bad'],
  unknownTool: ['unknown or hidden', 'bad'],
  unauthorized: ['not signed in', 'bad'],
  urlRequired: ['needs a page to be opened', 'warn'],
}

const known = (outcome: string): readonly [string, Tone] | undefined =>
  isOutcome(outcome) ? words[outcome] : undefined
const isOutcome = (outcome: string): outcome is CallOutcome => Object.hasOwn(words, outcome)

export const outcomeWord = (outcome: string): string => known(outcome)?.[0] ?? outcome
export const outcomeTone = (outcome: string): Tone => known(outcome)?.[1] ?? 'bad'
