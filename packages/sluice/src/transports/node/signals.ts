/** Handles signals of a serving process: it ends without losing a call. For Node only. */

import type { DrainOptions } from './listen.ts'

/** Options for the end of a process on SIGTERM and SIGINT. */
export interface SignalOptions extends DrainOptions {
  /** Called after the last call and before the end, to close stores and flush data. */
  readonly flush?: () => Promise<unknown>
  /** The process; tests pass another one. */
  readonly process?: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>
}

const signalNumbers = { SIGTERM: 15, SIGINT: 2 } as const

/**
 * Ends the process on signals. SIGTERM drains, flushes and exits with 0. SIGINT, which a person at a terminal sends,
 * does not wait for a load balancer to notice. A second signal exits at once. Returns a function that removes the
 * listeners.
 */
export function onSignals(
  serving: { drain(options?: DrainOptions): Promise<void> },
  { flush, process: target = process, ...drain }: SignalOptions = {},
): () => void {
  let ending = false
  const onSignal = (signal: keyof typeof signalNumbers): void => {
    if (ending) target.exit(128 + signalNumbers[signal])
    ending = true
    serving
      .drain(signal === 'SIGINT' ? { ...drain, noticeMs: 0 } : drain)
      .then(flush)
      .then(
        () => target.exit(0),
        () => target.exit(1),
      )
  }
  target.on('SIGTERM', onSignal)
  target.on('SIGINT', onSignal)
  return () => {
    target.off('SIGTERM', onSignal)
    target.off('SIGINT', onSignal)
  }
}
