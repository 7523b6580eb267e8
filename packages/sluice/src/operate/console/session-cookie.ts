/**
 * The session's cookie. `__Host-` holds it to this host, whole and over a secure connection, so that nobody next door can
 * plant one; browsers do not tell ports apart, so the name has the port in it and two consoles do not sign each other out.
 *
 * Chromium and Firefox count loopback as secure, so this holds for `http://127.0.0.1`, too. Safari does not: there the
 * cookie is dropped, the page says so, and `cookie: 'plain'` gives up the prefix and `Secure`, on loopback alone.
 */

export interface SessionCookie {
  /** The session's id; `undefined` where there is none, or two: then one of them was planted. */
  read(header: string | undefined): string | undefined
  set(id: string): string
  readonly clear: string
}

const cookieAttributes = 'Path=/; HttpOnly; SameSite=Strict'

export function sessionCookie(kind: 'host' | 'plain', port: number | string): SessionCookie {
  const name = kind === 'host' ? `__Host-sluice-${port}` : `sluice-${port}`
  const tail = kind === 'host' ? `${cookieAttributes}; Secure` : cookieAttributes
  return {
    read(header) {
      const found = (header ?? '')
        .split(';')
        .map((pair) => pair.trim())
        .filter((pair) => pair.startsWith(`${name}=`))
      return found.length === 1 ? found[0]?.slice(name.length + 1) : undefined
    },
    set: (id) => `${name}=${id}; ${tail}`,
    clear: `${name}=; ${tail}; Max-Age=0`,
  }
}
