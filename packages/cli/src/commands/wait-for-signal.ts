/** Drains on Ctrl-C and SIGTERM: notifies the load balancer, then waits for calls in flight. A second signal exits at once. */

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
  terminal.err('Stopping after the calls in flight. Press Ctrl-C again to stop now.')
  // At a terminal there is no load balancer to wait for.
  const notice = process.stdout.isTTY ? { noticeMs: 1 } : {}
  await serving.drain({ ...notice, ...omitUndefined(drain) })
}
