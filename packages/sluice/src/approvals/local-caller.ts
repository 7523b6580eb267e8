/** Tells calls from this machine. With the approver `client`, decisions are accepted from them only. */

import type { Via } from '../core/call.ts'
import { isLoopbackAddress } from '../core/loopback.ts'

/**
 * Headers that proxies add. Behind a proxy on this machine every peer looks local. A proxy that adds none of them cannot
 * be detected.
 */
const forwardingHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']

/** Whether the other end is the program that started this process, or this process itself. */
export const isPipe = ({ transport }: Pick<Via, 'transport'>): boolean =>
  transport === 'stdio' || transport === 'memory'

export const isLocal = (via: Via): boolean =>
  isPipe(via) ||
  // A peer must be an address, because a name does not prove where the other end is.
  (isLoopbackAddress(via.peer) && !forwardingHeaders.some((name) => via.header(name) !== undefined))
