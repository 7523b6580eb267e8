/** Waits a little for a quick human, so that the caller need not come back. */

import type { Call } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import type { ApprovalsService } from './service.ts'

/** How often the client hears that it still waits. */
const progressIntervalMs = 5_000

/**
 * Until the ticket is no longer undecided, `waitMs` have passed or the call is over. At most half of the tool's own time,
 * so that some is left to run in. Who misses the word about a decision just waits for nothing.
 */
export function waitForDecision(
  call: Call,
  id: string,
  {
    desk,
    clock,
    waitMs,
  }: { readonly desk: Pick<ApprovalsService, 'watch' | 'get'>; readonly clock: Clock; readonly waitMs: number },
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
      const left = until - clock.now()
      if (left > 0) {
        notifyProgress(call, left)
        cancelTimer = clock.after(Math.min(progressIntervalMs, left), tick)
      } else end()
    }
    const unsubscribe = desk.watch((change) => {
      if (change.id === id && change.status !== 'pending') end()
    })
    tick()
    removeStopListener = call.stop.onStop(() => end())
    // Decided between the last look and now.
    desk.get(id).then(
      (ticket) => {
        if (ticket?.status !== 'pending') end()
      },
      () => {},
    )
  })
}

/** Seconds left, below zero, so that it grows and whatever the tool reports is more. */
function notifyProgress({ meta, notify, revision }: Call, leftMs: number): void {
  const { progressToken } = meta
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return
  const message = revision === '2024-11-05' ? undefined : 'Waiting for a person to approve this call'
  notify('notifications/progress', {
    progressToken,
    progress: -Math.ceil(leftMs / 1000),
    ...(message !== undefined && { message }),
  })
}
