/** Reads what a refusal needs of a message that may be malformed: its id, its method and its revision. */

import type { Via } from '../core/call.ts'
import type { Id } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { idOf, isOneWay } from './classify.ts'
import type { Features } from './revisions.ts'
import { metaKeys, modernRevision, revisions } from './revisions.ts'

/**
 * Reads what it can of a refused message. Reading may throw, because programs pass in any object, including getters.
 */
export function readHeader(
  message: unknown,
  via: Via,
): { id?: Id | undefined; method?: string | undefined; features?: Features | undefined; oneWay?: boolean } {
  try {
    return {
      id: idOf(message),
      method: truncatedMethod(message),
      features: featuresFor(message, via),
      oneWay: isOneWay(message),
    }
  } catch {
    return {}
  }
}

/** Truncated, because any client can send it. */
const truncatedMethod = (message: unknown): string | undefined =>
  isObject(message) && typeof message['method'] === 'string' ? message['method'].slice(0, 128) : undefined

export const hasEnvelope = (message: unknown): boolean => {
  const params = isObject(message) ? message['params'] : undefined
  const meta = isObject(params) ? params['_meta'] : undefined
  return isObject(meta) && meta[metaKeys.version] !== undefined
}

/** Returns the features to refuse with, from the envelope, the session or the header, if they can be read. */
export function featuresFor(message: unknown, via: Via): Features | undefined {
  if (hasEnvelope(message)) return revisions[modernRevision]
  const agreed = via.connection?.state.agreed?.revision
  const named = agreed ?? via.header('mcp-protocol-version')?.trim()
  return Object.values(revisions).find(({ name }) => name === named)
}
