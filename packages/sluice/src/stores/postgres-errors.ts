/** What PostgreSQL's error codes mean to the caller of a verb, and which of them cost the connection. */

import { RpcError, storeUnavailable } from '../core/error.ts'

/**
 * Returns what a verb throws. PostgreSQL's own text may name hosts and rows, so it stays inside as the cause. An error
 * that is a bug of ours, such as a syntax error, is returned as it is.
 */
export function toUnavailable(thrown: unknown): unknown {
  if (thrown instanceof RpcError) return thrown
  const state = stateOf(thrown)
  return state === undefined ? thrown : storeUnavailable(state, thrown)
}

/** The same for a connection that could not be opened: whatever the error is, it is not a bug of the verb that waits. */
export const toUnopened = (thrown: unknown): RpcError =>
  thrown instanceof RpcError ? thrown : storeUnavailable(stateOf(thrown) ?? 'away', thrown)

/** SQLSTATE classes and codes. https://www.postgresql.org/docs/15/errcodes-appendix.html */
const states = new Map([
  ['08', 'away'],
  ['25006', 'read-only'],
  ['26000', 'away'],
  ['28', 'refusing our credentials'],
  ['3D000', 'without its database'],
  ['3F000', 'without its tables'],
  ['40001', 'busy'],
  ['40P01', 'busy'],
  ['42501', 'refusing this account'],
  ['42P01', 'without its tables'],
  ['53', 'out of resources'],
  ['53100', 'full'],
  ['53300', 'out of connections'],
  ['55P03', 'busy'],
  ['57', 'away'],
  ['57014', 'busy'],
  ['57P03', 'starting or stopping'],
  ['58', 'not able to use its disk'],
  ['XX001', 'damaged'],
  ['XX002', 'damaged'],
])
/** The server answers, but not as a primary, or not on this connection any more: only a new connection can help. */
const useless = new Set(['08', '25006', '26000', '57P01', '57P02', '57P03', '57P04', '57P05'])

function stateOf(thrown: unknown): string | undefined {
  const code = codeOf(thrown)
  // The driver's own errors and those of the socket: "Connection terminated", ECONNREFUSED, ENOTFOUND.
  if (!isSqlState(code)) return thrown instanceof Error ? 'away' : undefined
  return states.get(code) ?? states.get(code.slice(0, 2))
}

/** Also if the driver or the socket failed: then the connection is in an unknown state. */
export function isUseless(thrown: unknown): boolean {
  const code = codeOf(thrown)
  return !isSqlState(code) || useless.has(code) || useless.has(code.slice(0, 2))
}

/** The tables, or their schema, are not there yet. */
export const isMissingTable = (thrown: unknown): boolean => ['42P01', '3F000'].includes(codeOf(thrown))

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code)
const codeOf = (thrown: unknown): string =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''
