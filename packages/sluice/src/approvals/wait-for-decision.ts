/** Waits briefly for a quick decision, so that the caller does not need to call again. */

import type { Call } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { ApprovalsService } from './service.ts'

/** The interval of progress notifications while a call waits. */
const progressIntervalMs = 5_000

/**
 * Resolves when the ticket is decided, `waitMs` have passed or the call has ended. Waits at most half of the tool's
 * timeout, so that time remains to run. A call that misses the notification of a decision just waits longer.
 */
export function waitForDecision(
  call: Call,
  id: string,
  {
    approvals,
    clock,
    waitMs,
  }: { readonly approvals: Pick<ApprovalsService, 'watch' | 'get'>; readonly clock: Clock; readonly waitMs: number },
): Promise<void> {
  const until = clock.now() + Math.min(waitMs, call.target.policy.timeoutMs / 2)
  return new Promise((resolve) => {
    let [cancelTimer, removeStopListener] = [(): void => {}, (): void => {}]
    const end = (): void => {
      cancelTimer()
      unsubscribe()
      removeStopListener()
      resolve()
    }
    const tick = (): void => {
      const remainingMs = until - clock.now()
      if (remainingMs > 0) {
        notifyProgress(call, remainingMs)
        cancelTimer = clock.after(Math.min(progressIntervalMs, remainingMs), tick)
      } else end()
    }
    const unsubscribe = approvals.watch((change) => {
      if (change.id === id && change.status !== 'pending') end()
    })
    tick()
    removeStopListener = call.stop.onStop(() => end())
    // The ticket may have been decided between the last read and the subscription.
    approvals.get(id).then(
      (ticket) => {
        if (ticket?.status !== 'pending') end()
      },
      () => {},
    )
  })
}

/** Reports the remaining seconds as a negative number, so that it grows and is lower than the tool's own progress. */
function notifyProgress({ meta, notify, revision }: Call, remainingMs: number): void {
  const { progressToken } = meta
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return
  const message = revision === '2024-11-05' ? undefined : 'Waiting for a person to approve this call'
  notify('notifications/progress', {
    progressToken,
    progress: -Math.ceil(remainingMs / 1000),
    ...(message !== undefined && { message }),
  })
}
