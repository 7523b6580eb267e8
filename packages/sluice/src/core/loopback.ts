/** Which names and addresses are this machine's own, for everything that is safe there and nowhere else. */

/** Of a host name, also in the brackets that URLs have, or of an address as sockets name it (IPv4 mapped into IPv6, too). */
export const isLoopback = (host: string): boolean =>
  /^(?:localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)

/** An https address, or a plain one on this machine: over plain http anybody on the way could change what comes back. */
export function isSafeUrl(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname } = new URL(url)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
}
