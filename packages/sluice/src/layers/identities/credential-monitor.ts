/** Rechecks the credentials of open streams and sockets, which would otherwise outlive them. */

import type { Call, Caller } from '../../core/call.ts'
import type { Clock } from '../../core/clock.ts'
import { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import type { AuthenticateCredential, Verifier } from './authenticate-credential.ts'
import { unauthorized } from './authenticate-credential.ts'

/** How often a credential is rechecked. A revoked one keeps its stream this long if no verifier reports the change. */
const recheckMs = 5_000

export interface CredentialMonitor {
  /**
   * Triggers `stop` when the credential of `caller` expires, is revoked or loses a scope. The returned function ends the
   * monitoring.
   */
  (call: Pick<Call, 'via' | 'params' | 'facts'> & { readonly stop: Stop }, caller: Caller): () => void
  /** Ends all monitoring. */
  close(): void
}

export function createCredentialMonitor(
  verifiers: readonly Verifier[],
  authenticateCredential: AuthenticateCredential,
  clock: Clock,
): CredentialMonitor {
  const monitored = new Set<MonitoredCredential>()
  const recheckCredential = (credential: string): void => {
    for (const each of [...monitored]) if (each.credential === credential) each.recheck()
  }
  const unsubscribers = verifiers.map((verifier) => verifier.onChange?.(recheckCredential))
  return Object.assign(
    (call: Parameters<CredentialMonitor>[0], caller: Caller) => {
      const one = monitorOne(call, caller, authenticateCredential, clock, () => monitored.delete(one))
      monitored.add(one)
      call.stop.onStop(one.release)
      return one.release
    },
    {
      close() {
        for (const unsubscribe of unsubscribers) unsubscribe?.()
        for (const { release } of [...monitored]) release()
      },
    },
  )
}

interface MonitoredCredential {
  readonly credential: string
  /** Rechecks now, without waiting for the timer. */
  recheck(): void
  release(): void
}

function monitorOne(
  call: Parameters<CredentialMonitor>[0],
  { credential, expires: until, scopes }: Caller,
  authenticateCredential: AuthenticateCredential,
  clock: Clock,
  onRelease: () => void,
): MonitoredCredential {
  let expires = until
  let cancelTimer = (): void => {}
  let released = false
  let isChecking = false
  let recheckPending = false
  const release = (): void => {
    released = true
    cancelTimer()
    onRelease()
  }
  const arm = (): void => {
    if (!released) cancelTimer = clock.after(Math.max(0, Math.min(expires - clock.now(), recheckMs)), recheck)
  }
  const end = (): void => call.stop.stop(unauthorized({ error: 'invalid_token' }))
  async function check(): Promise<void> {
    // A closed session has ended its streams, without notifying this monitor.
    if (call.via.connection?.closed) return release()
    try {
      const still = expires > clock.now() ? await authenticateCredential(call) : undefined
      // What the stream may send was decided with all of its scopes.
      if (still && [...scopes].every((scope) => still.scopes.has(scope))) expires = still.expires
      else end()
    } catch (thrown) {
      // A store that is unavailable for a minute must not end every stream at once. Expiry still applies.
      if (!(thrown instanceof RpcError) || thrown.reason !== 'storeUnavailable') end()
    }
  }
  /** Runs one check at a time. A change during a check triggers another one. */
  function recheck(): void {
    recheckPending = isChecking
    if (isChecking || released) return
    cancelTimer()
    isChecking = true
    check().then(() => {
      isChecking = false
      if (recheckPending) recheck()
      else arm()
      // A check that cannot run counts as a refusal.
    }, end)
  }
  arm()
  return { credential, recheck, release }
}
