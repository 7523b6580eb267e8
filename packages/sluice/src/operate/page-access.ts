/** Restricts the pages beside the MCP endpoint by the peer's address. */

import { isLoopback } from '../core/loopback.ts'

/**
 * The peers that may read these pages. By default only this machine, because the numbers reveal what is used and how
 * much. Its requests must name an address, localhost or one of "hosts". Otherwise a web page could read them by DNS rebinding.
 * Behind a proxy on the same machine every client looks local, so the proxy must not forward these paths.
 */
export type PageAccess = 'loopback' | 'everyone' | ((peer: string) => boolean)

export const accessCheck = (readers: PageAccess = 'loopback'): ((peer: string) => boolean) =>
  readers === 'everyone' ? () => true : readers === 'loopback' ? isLoopback : readers

/** Not cacheable, because the content is about this moment. */
export const plainTextHeaders = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
}
