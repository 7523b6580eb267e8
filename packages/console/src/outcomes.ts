/** The outcomes of calls in words and colours, for all pages. The raw outcome is in the log and the metrics. */

type Tone = 'good' | 'bad' | 'warn'

const words: { readonly [outcome: string]: readonly [word: string, tone: Tone] } = {
  complete: ['succeeded', 'good'],
  approval_required: ['waits for an approval', 'warn'],
  input_required: ['waits for an answer', 'warn'],
  toolError: ['reported an error', 'bad'],
  toolFailed: ['failed', 'bad'],
  internalError: ['failed by a bug', 'bad'],
  approvalDenied: ['denied', 'bad'],
  approvalInvalid: ['no valid approval', 'bad'],
  approvalVoid: ['approval void', 'bad'],
  cancelled: ['cancelled', 'bad'],
  conflict: ['in conflict', 'bad'],
  forbidden: ['not allowed', 'bad'],
  insufficientScope: ['lacks a scope', 'bad'],
  invalidArguments: ['invalid arguments', 'bad'],
  invalidParams: ['invalid arguments', 'bad'],
  overloaded: ['refused: overloaded', 'bad'],
  rateLimited: ['refused: too many calls', 'bad'],
  shuttingDown: ['refused: shutting down', 'bad'],
  timeout: ['timed out', 'bad'],
  upstreamInDoubt: ['in doubt', 'bad'],
  upstreamUnavailable: ['upstream unavailable', 'bad'],
  unknownTool: ['unknown or hidden', 'bad'],
  unauthorized: ['not signed in', 'bad'],
}

const known = (outcome: string): readonly [string, Tone] | undefined =>
  Object.hasOwn(words, outcome) ? words[outcome] : undefined

export const outcomeWord = (outcome: string): string => known(outcome)?.[0] ?? outcome
export const outcomeTone = (outcome: string): Tone => known(outcome)?.[1] ?? 'bad'
