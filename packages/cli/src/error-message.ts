/** Messages of errors for the operator. Clients never read a database's own words, but in a terminal they help. */

import { RpcError } from 'sluice'
import { escapeControls } from './output.ts'

/** Returns the message of an error, with the reason behind it if a store refused. */
export function errorMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, cause } = thrown
  if (!isStoreRefusal(thrown) || !(cause instanceof Error)) return message
  // A refused connection to a name with several addresses has only a code.
  const reason = cause.message || ('code' in cause ? String(cause.code) : '')
  return reason === '' ? message : `${message}: ${escapeControls(reason)}`
}

/** Whether the store could not be used. */
export const isStoreRefusal = (thrown: unknown): boolean =>
  thrown instanceof RpcError && thrown.reason === 'storeUnavailable'
