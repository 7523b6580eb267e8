/** Who may read the pages beside the MCP endpoint, by address. */

/**
 * Only this machine by default: the numbers tell strangers what is used and how much. Behind a proxy on the same machine
 * every client comes from there; let the proxy keep these paths to itself.
 */
export type Readers = 'loopback' | 'everyone' | ((peer: string) => boolean)

export const mayRead = (readers: Readers = 'loopback'): ((peer: string) => boolean) =>
  readers === 'everyone' ? () => true : readers === 'loopback' ? isLoopback : readers

/** As sockets name them; IPv4 may come mapped into IPv6. Nothing at all is no address, so it is not this machine. */
const isLoopback = (peer: string): boolean =>
  peer === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(peer)

/** Never kept by anybody: it is about this very moment. */
export const plain = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'no-store',
}
