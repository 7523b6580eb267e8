/**
 * Redacts failures for logs, spans and the audit.
 *
 * Messages often quote their input. So values that the caller sent (arguments, credentials) are removed by value, and
 * tokens by their form. Only failures pay for this.
 */

import type { Call } from '../core/call.ts'
import type { Bug } from '../core/error.ts'
import { bugOf, RpcError } from '../core/error.ts'

/** Reasons whose text is about the caller's values. Removing the values would leave nothing, or not remove enough. */
const reasonsAboutInput: ReadonlySet<string> = new Set([
  'invalidArguments',
  'invalidParams',
  'toolFailed',
  'toolCrashed',
  'resourceNotFound',
  'headerMismatch',
  'urlRequired',
])

/** Returns a refusal's text for the operator; `undefined` if it cannot be told from the caller's. */
export const messageOf = (call: Call, thrown: unknown): string | undefined =>
  thrown instanceof RpcError && !reasonsAboutInput.has(thrown.reason) ? redact(thrown.message, call) : undefined

const maxMessageLength = 2_048
/** Far more than is kept. A value that is cut here cannot be recognized, so it must not begin within the kept text. */
const maxReadLength = 32_768
const maxStackLength = 16_384

/** Returns the type, message and stack of a bug; `undefined` for a refusal. */
export function bugFields(call: Call, thrown: unknown): Bug | undefined {
  const bug = bugOf(thrown)
  if (!bug) return undefined
  const { stack } = bug
  // The error class may be foreign and its fields may be anything. Failing here would lose the line with the error id.
  const [errorType, errorMessage] = [textOf(bug.errorType), textOf(bug.errorMessage)]
  const message = redact(errorMessage, call)
  if (typeof stack !== 'string') return { errorType, errorMessage: message }
  // The stack begins with the message. Its frames hold names and paths of programs, so they are not redacted.
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

/**
 * Returns the causes of a failure, nearest first: `Error: no answer <- Error: connect ECONNREFUSED`. `undefined` if it
 * has none.
 */
export function causesOf(call: Call, thrown: unknown): string | undefined {
  const causes: string[] = []
  try {
    // The bug of a crashed tool is logged as such. This returns its causes.
    const isCrash = thrown instanceof RpcError && thrown.reason === 'toolCrashed'
    let failure = isCrash ? thrown.cause : thrown
    while (failure instanceof Error && failure.cause !== undefined && causes.length < maxCauses) {
      failure = failure.cause
      causes.push(
        failure instanceof Error ? `${textOf(failure.name)}: ${redact(textOf(failure.message), call)}` : typeof failure,
      )
    }
  } catch {
    // Getters of a foreign error class threw, so the line has no causes.
  }
  return causes.length === 0 ? undefined : causes.join(' <- ').slice(0, maxMessageLength)
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : `a ${typeof value}`)

/** Forms of credentials, of any owner. Each pattern matches in linear time. */
const credentialForms: readonly RegExp[] = [
  /\b(?:bearer|basic|dpop)\s+[\w.~+/=-]{4,}/gi,
  // A JSON Web Token, or the beginning of one.
  /\beyJ[\w-]{6,}(?:\.[\w-]*){0,4}/g,
  // `token=...`, `api_key: ...`, `"password":"..."`: the value, up to what could end it.
  // The name may begin with another word: `client_secret`, `refreshToken`.
  /(?:token|(?:api|access|private)[_-]?key|secret|password|passwd|authorization)["']?\s?[=:]\s?["']?[^\s"'&,;]{3,}/gi,
  // `https://user:password@host`.
  /\/\/[^\s/:@"']*:[^\s/@"']+(?=@)/g,
  // `JSON.parse` quotes a fragment of its input, and not from the start.
  /(?:\.\.\.)?".{0,64}"(?:\.\.\.)? is not valid JSON/gs,
]

function redact(text: string, call: Call): string {
  let redacted = text.slice(0, maxReadLength)
  // By form first: the caller also sends the word `Bearer`, and without it a token is not recognized by its form.
  for (const form of credentialForms) redacted = redacted.replace(form, '[redacted]')
  // Longest first: otherwise replacing a short value inside a long one would leave the rest of the long one.
  for (const value of sentValues(call).sort((a, b) => b.length - a.length))
    redacted =
      value.length > longValueLength
        ? cutAt(redacted, value.slice(0, prefixLength))
        : redacted.replaceAll(value, '[redacted]')
  return redacted.slice(0, maxMessageLength).toWellFormed()
}

/**
 * Cuts the text at a long value. Messages that quote a long text quote its start, so the start is searched and
 * everything after it is dropped.
 */
function cutAt(text: string, start: string): string {
  const at = text.indexOf(start)
  return at === -1 ? text : `${text.slice(0, at)}[redacted]`
}
const longValueLength = 256
const prefixLength = 32

/** Shorter values occur in every text. They reveal nothing, and redacting them would make the text unreadable. */
const minValueLength = 4
const maxValues = 512
const credentialHeaders = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'mcp-session-id'] as const

/** Returns the values of the arguments and credentials, as they would occur in a text. */
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
      // The value as it occurs inside quoted JSON.
      const quoted = JSON.stringify(value).slice(1, -1)
      if (quoted !== value) add(quoted)
    } else if (typeof value === 'number') add(String(value))
    else if (typeof value === 'object' && value !== null) open.push(...valuesOf(value))
  }
  return found
}

/** Returns the values of an object. Programs pass in any object, including getters that throw. */
function valuesOf(value: object): readonly unknown[] {
  try {
    return Object.values(value).slice(0, maxValues)
  } catch {
    return []
  }
}
