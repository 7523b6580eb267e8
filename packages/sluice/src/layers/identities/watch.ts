/** Streams and sockets outlive their credential unless somebody looks: this does, until they end. */

import type { Call, Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { Identify } from './identify.ts'
import { unauthorized } from './identify.ts'

/** How often the credential is looked at again: how long a revoked one goes on listening. */
const recheckMs = 60_000

/**
 * Ends `stop` when the credential that admitted `caller` expires or is revoked; the returned function lets go. `left` is
 * called when nobody looks any more, whatever the reason.
 */
export function watch(
  call: Pick<Call, 'via' | 'params' | 'facts'> & { readonly stop: Stop },
  caller: Caller,
  identify: Identify,
  clock: Clock,
  left: () => void = () => {},
): () => void {
  let callOff = (): void => {}
  let over = false
  const leave = (): void => {
    over = true
    callOff()
    left()
  }
  const arm = (expires: number): void => {
    if (!over) callOff = clock.after(Math.max(0, Math.min(expires - clock.now(), recheckMs)), () => void check(expires))
  }
  const end = (): void => call.stop.stop(unauthorized({ error: 'invalid_token' }))
  async function check(expires: number): Promise<void> {
    // A session that ended took its streams along, and told nobody else.
    if (call.via.connection?.closed) return leave()
    try {
      const still = expires > clock.now() ? await identify(call) : undefined
      if (still) arm(still.expires)
      else end()
    } catch (thrown) {
      // A store that is away for a minute must not cut every stream at once; expiry is still honoured.
      if (thrown instanceof RpcError && thrown.reason === 'storeUnavailable') arm(expires)
      else end()
    }
  }
  arm(caller.expires)
  call.stop.onStop(leave)
  return leave
}
