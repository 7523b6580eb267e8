/** Ctrl-C and SIGTERM: the balancer hears of it, calls under way finish, a second signal ends at once. */

import type { Config } from '../config/schema.ts'
import { omitUndefined } from '../host/omit-undefined.ts'
import type { CommandContext } from './context.ts'

interface Drainable {
  drain(options?: { readonly noticeMs?: number; readonly graceMs?: number }): Promise<void>
}

export async function drainOnSignal(
  { signal, terminal }: CommandContext,
  serving: Drainable,
  { drain }: Pick<Config, 'drain'>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
  terminal.err('Stopping: calls under way finish first; once more stops now.')
  // A person at the terminal waits for nobody's balancer.
  const notice = process.stdout.isTTY ? { noticeMs: 1 } : {}
  await serving.drain({ ...notice, ...omitUndefined(drain) })
}
