/** Recognizes the names and addresses of this machine, for everything that is safe on loopback only. */

/** Accepts a host name, also in the brackets of a URL, or a socket address, also IPv4 mapped into IPv6. */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/** Accepts the address of a peer on this machine. A name says nothing about where the other end is. */
export const isLoopbackAddress = (peer: string): boolean => peer.toLowerCase() !== 'localhost' && isLoopback(peer)

/**
 * Accepts an https URL, or a plain http URL on this machine. Over plain http, an attacker on the network could change
 * the response.
 */
export function isSafeUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
