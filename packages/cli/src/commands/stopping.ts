/** Ctrl-C and SIGTERM: the balancer hears of it, calls under way finish, a second signal ends at once. */

import type { Config } from '../config/schema.ts'
import { defined } from '../host/options.ts'
import type { Around } from './command.ts'

interface Stoppable {
  drain(options?: { readonly noticeMs?: number; readonly graceMs?: number }): Promise<void>
}

export async function untilStopped(
  { signal, terminal }: Around,
  serving: Stoppable,
  { drain }: Pick<Config, 'drain'>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  terminal.err('Stopping: calls under way finish first; once more stops now.')
  // A person at the terminal waits for nobody's balancer.
  const notice = process.stdout.isTTY ? { noticeMs: 1 } : {}
  await serving.drain({ ...notice, ...defined(drain) })
}
