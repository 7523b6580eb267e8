/** Finds the parked call of an idempotency key, so that a repeated call gets the open question instead of waiting. */

import type { Call } from '../core/call.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { digest } from '../core/digest.ts'
import type { Key } from '../core/store.ts'
import { hasIdempotencyKey, recordKeyOf } from '../layers/idempotency-key.ts'
import type { RunningCall } from '../running-calls/record.ts'
import type { ParkDeps } from './deps.ts'

const keyFor = (call: Call): Key => ['parked-key', ...recordKeyOf(call)]

export const hasKey = (call: Call): boolean => call.target.kind === 'tool' && hasIdempotencyKey(call)

export async function rememberKey({ serverStore }: ParkDeps, call: Call, id: string, ttlMs: number): Promise<void> {
  if (hasKey(call)) await serverStore.set(keyFor(call), id, ttlMs)
}

/** Returns the record of the same call under the same key, if it is parked. Other calls are left to `idempotency`. */
export async function parkedUnderKey({ serverStore, calls }: ParkDeps, call: Call): Promise<RunningCall | undefined> {
  const id = await serverStore.get(keyFor(call))
  const record = id === undefined ? undefined : await calls.read(call.tenant.id, id)
  const isSame = record?.definition === definitionHash(call.target) && record.digest === digest(call.args)
  return isSame && !record.outcome ? record : undefined
}
