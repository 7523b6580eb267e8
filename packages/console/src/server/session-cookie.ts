/**
 * The session's cookie. The prefix `__Host-` binds it to this host and to secure connections, so that a neighbouring site
 * cannot plant one. Cookies ignore ports, so the name contains the port. Otherwise two consoles would sign each other out.
 *
 * Chromium and Firefox treat loopback as secure, so this works on `http://127.0.0.1` too. Safari does not and drops the
 * cookie. The page then says so, and `cookie: 'plain'` omits the prefix and `Secure`, on loopback only.
 */

export interface SessionCookie {
  /** Returns the session's id. `undefined` if there is none, or if there are two, because then one was planted. */
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
