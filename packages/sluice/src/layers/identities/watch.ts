/** Streams and sockets outlive their credential unless somebody looks: this does, until they end. */

import type { Call, Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { Identify, Verifier } from './identify.ts'
import { unauthorized } from './identify.ts'

/** How often a credential is looked at again: how long a revoked one goes on listening where no verifier tells. */
const recheckMs = 5_000

export interface Watch {
  /** Ends `stop` when the credential that admitted `caller` expires or is revoked; the returned function lets go. */
  (call: Pick<Call, 'via' | 'params' | 'facts'> & { readonly stop: Stop }, caller: Caller): () => void
  /** Lets go of all. */
  close(): void
}

export function createWatch(verifiers: readonly Verifier[], identify: Identify, clock: Clock): Watch {
  const watched = new Set<Watched>()
  const tell = (credential: string): void => {
    for (const each of [...watched]) if (each.credential === credential) each.look()
  }
  const deafen = verifiers.map((verifier) => verifier.onChange?.(tell))
  return Object.assign(
    (call: Parameters<Watch>[0], caller: Caller) => {
      const one = watchOne(call, caller, identify, clock, () => watched.delete(one))
      watched.add(one)
      call.stop.onStop(one.leave)
      return one.leave
    },
    {
      close() {
        for (const stop of deafen) stop?.()
        for (const { leave } of [...watched]) leave()
      },
    },
  )
}

interface Watched {
  readonly credential: string
  /** Now, and not only when it is time. */
  look(): void
  leave(): void
}

function watchOne(
  call: Parameters<Watch>[0],
  { credential, expires: until }: Caller,
  identify: Identify,
  clock: Clock,
  left: () => void,
): Watched {
  let expires = until
  let callOff = (): void => {}
  let over = false
  let looking = false
  let again = false
  const leave = (): void => {
    over = true
    callOff()
    left()
  }
  const arm = (): void => {
    if (!over) callOff = clock.after(Math.max(0, Math.min(expires - clock.now(), recheckMs)), look)
  }
  const end = (): void => call.stop.stop(unauthorized({ error: 'invalid_token' }))
  async function check(): Promise<void> {
    // A session that ended took its streams along, and told nobody else.
    if (call.via.connection?.closed) return leave()
    try {
      const still = expires > clock.now() ? await identify(call) : undefined
      if (still) expires = still.expires
      else end()
    } catch (thrown) {
      // A store that is away for a minute must not cut every stream at once; expiry is still honoured.
      if (!(thrown instanceof RpcError) || thrown.reason !== 'storeUnavailable') end()
    }
  }
  /** One at a time: what changes while it is looked at is looked at once more. */
  function look(): void {
    again = looking
    if (looking || over) return
    callOff()
    looking = true
    check().then(() => {
      looking = false
      if (again) look()
      else arm()
      // A check that cannot run is a no.
    }, end)
  }
  arm()
  return { credential, look, leave }
}
