/** Who may read the pages beside the MCP endpoint, by address. */

import { isLoopback } from '../core/loopback.ts'

/**
 * Only this machine by default: the numbers tell strangers what is used and how much. Behind a proxy on the same machine
 * every client comes from there; let the proxy keep these paths to itself.
 */
export type PageAccess = 'loopback' | 'everyone' | ((peer: string) => boolean)

export const accessCheck = (readers: PageAccess = 'loopback'): ((peer: string) => boolean) =>
  readers === 'everyone' ? () => true : readers === 'loopback' ? isLoopback : readers

/** Never kept by anybody: it is about this very moment. */
export const plainTextHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
}
