/**
 * What of a failure may be read in a log, a span or the audit.
 *
 * Messages are written by people who quote what they were given. So what the caller sent (arguments, credentials) is
 * taken out of them again by value, and what looks like a token by its form. Only failures pay for this.
 */

import type { Call } from '../core/call.ts'
import type { Bug } from '../core/error.ts'
import { bugOf, RpcError } from '../core/error.ts'

/** Reasons whose text is about the very values the caller sent: taking the values out would leave nothing, or not enough. */
const reasonsAboutInput: ReadonlySet<string> = new Set([
  'invalidArguments',
  'invalidParams',
  'toolFailed',
  'toolCrashed',
  'resourceNotFound',
  'headerMismatch',
  'urlRequired',
])

/** A refusal's own words, for the operator; `undefined` where they cannot be told from the caller's. */
export const messageOf = (call: Call, thrown: unknown): string | undefined =>
  thrown instanceof RpcError && !reasonsAboutInput.has(thrown.reason) ? redact(thrown.message, call) : undefined

const maxMessageLength = 2_048
/** Far more than is kept: what is cut off here cannot be recognized, and must not begin inside what is kept. */
const maxReadLength = 32_768
const maxStackLength = 16_384

/** Type, message and stack of a bug; `undefined` for a refusal. */
export function bugFields(call: Call, thrown: unknown): Bug | undefined {
  const bug = bugOf(thrown)
  if (!bug) return undefined
  const { stack } = bug
  // Anybody's error class: its fields may be anything, and losing the line over that would lose the reference.
  const [errorType, errorMessage] = [textOf(bug.errorType), textOf(bug.errorMessage)]
  const message = redact(errorMessage, call)
  if (typeof stack !== 'string') return { errorType, errorMessage: message }
  // The stack begins with the message. Its frames hold names and paths of programs, so they stay as they are.
  const head = `${errorType}: ${errorMessage}`
  const rest = stack.startsWith(head) ? stack.slice(head.length) : stack.slice(Math.max(0, stack.indexOf('\n    at ')))
  const frames = rest.split('\n').filter((line) => line.startsWith('    at '))
  return {
    errorType,
    errorMessage: message,
    stack: [`${errorType}: ${message}`, ...frames].join('\n').slice(0, maxStackLength),
  }
}

const maxCauses = 5

/** What led to a failure, nearest first: `Error: no answer <- Error: connect ECONNREFUSED`. `undefined` if it does not say. */
export function causesOf(call: Call, thrown: unknown): string | undefined {
  const causes: string[] = []
  try {
    // The bug of a tool that crashed is told as such; here is what led to it.
    const isCrash = thrown instanceof RpcError && thrown.reason === 'toolCrashed'
    let failure = isCrash ? thrown.cause : thrown
    while (failure instanceof Error && failure.cause !== undefined && causes.length < maxCauses) {
      failure = failure.cause
      causes.push(
        failure instanceof Error ? `${textOf(failure.name)}: ${redact(textOf(failure.message), call)}` : typeof failure,
      )
    }
  } catch {
    // Getters of somebody's error class threw: the line stands without them.
  }
  return causes.length === 0 ? undefined : causes.join(' <- ').slice(0, maxMessageLength)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : `a ${typeof value}`)

/** Of these forms, whoever they belong to. Each matches in linear time. */
const credentialForms: readonly RegExp[] = [
  /\b(?:bearer|basic|dpop)\s+[\w.~+/=-]{4,}/gi,
  // A JSON Web Token, or the beginning of one.
  /\beyJ[\w-]{6,}(?:\.[\w-]*){0,4}/g,
  // `token=…`, `api_key: …`, `"password":"…"`: the value, up to what could end it.
  /\b(?:access_token|token|api[_-]?key|secret|password|passwd|authorization)["']?\s?[=:]\s?["']?[^\s"'&,;]{3,}/gi,
  // `JSON.parse` quotes a piece of what it was given, and not from its beginning.
  /(?:\.\.\.)?".{0,64}"(?:\.\.\.)? is not valid JSON/gs,
]

function redact(text: string, call: Call): string {
  let kept = text.slice(0, maxReadLength)
  // By form first: the word `Bearer` is itself sent by the caller, and without it no token is known by its form.
  for (const form of credentialForms) kept = kept.replace(form, '[redacted]')
  // Longest first: otherwise a short value inside a long one would leave the rest of it standing.
  for (const value of sentValues(call).sort((a, b) => b.length - a.length))
    kept =
      value.length > longValueLength ? cutAt(kept, value.slice(0, prefixLength)) : kept.replaceAll(value, '[redacted]')
  return kept.slice(0, maxMessageLength).toWellFormed()
}

/** Whoever quotes a long text quotes the beginning of it, so that is looked for, and nothing after it is kept. */
function cutAt(text: string, start: string): string {
  const at = text.indexOf(start)
  return at === -1 ? text : `${text.slice(0, at)}[redacted]`
}
const longValueLength = 256
const prefixLength = 32

/** Shorter ones are in every text: without them nothing is told, and with them nothing could be read. */
const minValueLength = 4
const maxValues = 512
const credentialHeaders = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'mcp-session-id'] as const

/** Values of the arguments and credentials, as they would stand in a text. */
function sentValues({ args, params, via }: Call): string[] {
  const found: string[] = []
  const add = (value: string): void => {
    if (value.length >= minValueLength) found.push(value)
  }
  for (const name of credentialHeaders)
    for (const part of via.header(name)?.split(/[\s;]+/) ?? []) {
      add(part)
      add(part.slice(part.indexOf('=') + 1))
    }
  if (typeof params['token'] === 'string') add(params['token'])
  const open: unknown[] = [args, params['inputResponses']]
  for (let seen = 0; open.length > 0 && seen < maxValues; seen++) {
    const value = open.pop()
    if (typeof value === 'string') {
      add(value)
      // As it stands inside quoted JSON.
      const quoted = JSON.stringify(value).slice(1, -1)
      if (quoted !== value) add(quoted)
    } else if (typeof value === 'number') add(String(value))
    else if (typeof value === 'object' && value !== null) open.push(...valuesOf(value))
  }
  return found
}

/** Programs hand in any object, getters that throw included. */
function valuesOf(value: object): readonly unknown[] {
  try {
    return Object.values(value).slice(0, maxValues)
  } catch {
    return []
  }
}
