/** Refuses text that framing refused, in the same way on every transport without statuses. */

import type { Via } from '../core/call.ts'
import { UnsafeMessage } from '../core/frame.ts'
import { isOneWay } from '../protocol/classify.ts'
import type { TransportServer } from '../protocol/server.ts'

/** Returns the text of the refusal, or `null` if the text held a message that must not be answered. */
export function rejectText(server: TransportServer, via: Via, thrown: unknown): string | null {
  const value = thrown instanceof UnsafeMessage ? thrown.value : undefined
  const refusal = server.reject(thrown, via, value)
  return isOneWay(value) ? null : refusal
}
