/** Messages of errors for the operator. Clients never read a database's own words, but in a terminal they help. */

import { RpcError } from 'sluice'
import { escapeControls } from './output.ts'

/** Returns the message of an error, with the reason behind it if a store refused. */
export function errorMessage(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { message, cause } = thrown
  if (!isStoreRefusal(thrown) || !(cause instanceof Error)) return message
  // A refused connection to a name with several addresses has only a code.
  const text = cause.message || ('code' in cause ? String(cause.code) : '')
  const reason = isPasswordMissing(text) ? 'PostgreSQL wants a password, so set SLUICE_POSTGRES_PASSWORD' : text
  return reason === '' ? message : `${message}: ${escapeControls(reason)}`
}

/** The driver's words for it, "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string", name no next step. */
const isPasswordMissing = (text: string): boolean => text.includes('client password must be a string')

/** Whether the store could not be used. */
export const isStoreRefusal = (thrown: unknown): boolean =>
  thrown instanceof RpcError && thrown.reason === 'storeUnavailable'
