/** Streams and sockets outlive their credential unless somebody looks: this does, until they end. */

import type { Call, Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { AuthenticateCredential, Verifier } from './authenticate-credential.ts'
import { unauthorized } from './authenticate-credential.ts'

/** How often a credential is looked at again: how long a revoked one goes on listening where no verifier tells. */
const recheckMs = 5_000

export interface CredentialMonitor {
  /** Ends `stop` when the credential that admitted `caller` expires or is revoked; the returned function lets go. */
  (call: Pick<Call, 'via' | 'params' | 'facts'> & { readonly stop: Stop }, caller: Caller): () => void
  /** Lets go of all. */
  close(): void
}

export function createCredentialMonitor(
  verifiers: readonly Verifier[],
  identify: AuthenticateCredential,
  clock: Clock,
): CredentialMonitor {
  const watched = new Set<MonitoredCredential>()
  const tell = (credential: string): void => {
    for (const each of [...watched]) if (each.credential === credential) each.recheck()
  }
  const deafen = verifiers.map((verifier) => verifier.onChange?.(tell))
  return Object.assign(
    (call: Parameters<CredentialMonitor>[0], caller: Caller) => {
      const one = monitorOne(call, caller, identify, clock, () => watched.delete(one))
      watched.add(one)
      call.stop.onStop(one.release)
      return one.release
    },
    {
      close() {
        for (const stop of deafen) stop?.()
        for (const { release: leave } of [...watched]) leave()
      },
    },
  )
}

interface MonitoredCredential {
  readonly credential: string
  /** Now, and not only when it is time. */
  recheck(): void
  release(): void
}

function monitorOne(
  call: Parameters<CredentialMonitor>[0],
  { credential, expires: until }: Caller,
  identify: AuthenticateCredential,
  clock: Clock,
  left: () => void,
): MonitoredCredential {
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
  return { credential, recheck: look, release: leave }
}
