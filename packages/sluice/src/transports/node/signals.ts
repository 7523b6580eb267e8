/** What a signal means to a process that serves: leave without losing a call. Node alone. */

import type { DrainOptions } from './listen.ts'

/** What happens on SIGTERM and SIGINT. */
export interface SignalOptions extends DrainOptions {
  /** After the last call and before the end: closes stores, flushes what is yours. */
  readonly flush?: () => Promise<unknown>
  /** The process, in tests another. */
  readonly process?: Pick<NodeJS.Process, 'on' | 'off' | 'exit'>
}

const signalNumbers = { SIGTERM: 15, SIGINT: 2 } as const

/**
 * SIGTERM drains, flushes and ends with 0; SIGINT, which a person at a terminal sends, does so without the time for a
 * balancer to notice. A second signal ends now. The returned function takes the listeners off again.
 */
export function onSignals(
  serving: { drain(options?: DrainOptions): Promise<void> },
  { flush, process: on = process, ...drain }: SignalOptions = {},
): () => void {
  let leaving = false
  const hear = (signal: keyof typeof signalNumbers): void => {
    if (leaving) on.exit(128 + signalNumbers[signal])
    leaving = true
    serving
      .drain(signal === 'SIGINT' ? { ...drain, noticeMs: 0 } : drain)
      .then(flush)
      .then(
        () => on.exit(0),
        () => on.exit(1),
      )
  }
  on.on('SIGTERM', hear)
  on.on('SIGINT', hear)
  return () => {
    on.off('SIGTERM', hear)
    on.off('SIGINT', hear)
  }
}
