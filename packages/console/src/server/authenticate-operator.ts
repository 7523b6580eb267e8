/**
 * Authenticates operators by an operator key as a bearer token, or by a session cookie. It accepts nothing else, so that
 * an agent's credentials open nothing.
 *
 * A request with the cookie must also come from the page itself. `SameSite` alone is not enough, because it ignores
 * ports. Any other page on this machine is "the same site".
 */

import { timingSafeEqual } from 'node:crypto'
import type { Store } from 'sluice'
import { RpcError } from 'sluice'
import type { NodeRequest } from 'sluice/internal'
import { prefixed } from 'sluice/internal'
import type { Operator } from '../api/index.ts'
import { throttleAttempt, wrongCredentialBucket } from './login-throttle.ts'
import type { OperatorKeys } from './operators.ts'
import type { SessionCookie } from './session-cookie.ts'
import type { ConsoleSessions } from './sessions.ts'

export interface AuthenticatedCaller {
  readonly operator: Operator
  /** For the audit. */
  readonly credential: string
  readonly csrf: string
  readonly expiresAt: number
  /** The cookie to set if the session got a new id. */
  readonly cookie?: string
  /** Whether the credential is still valid. Streams check it, because they can outlive the credential. */
  isStillValid(): Promise<boolean>
}

export interface OperatorAuthenticatorOptions {
  readonly sessions: ConsoleSessions
  readonly operators: OperatorKeys
  readonly cookies: SessionCookie
  readonly store: Store
}

export type OperatorAuthenticator = (request: NodeRequest) => Promise<AuthenticatedCaller>

export function createOperatorAuthenticator({
  sessions,
  operators,
  cookies,
  store,
}: OperatorAuthenticatorOptions): OperatorAuthenticator {
  const consoleStore = prefixed(store, ['console'])

  async function byKey(header: string, peer: string): Promise<AuthenticatedCaller> {
    const [, secret] = /^Bearer ([\w-]{1,256})$/i.exec(header) ?? []
    const key = secret === undefined ? undefined : await operators.verify(secret)
    if (secret === undefined || !key) {
      await throttleAttempt(consoleStore, 'wrong-key', peer, wrongCredentialBucket)
      throw unauthorized()
    }
    return {
      operator: { name: key.name, scopes: key.scopes, tenants: key.tenants },
      credential: `operator key ${key.id}`,
      csrf: '',
      expiresAt: key.expires ?? Number.MAX_SAFE_INTEGER,
      isStillValid: async () => (await operators.verify(secret)) !== undefined,
    }
  }
  async function byCookie(request: NodeRequest, id: string): Promise<AuthenticatedCaller> {
    refuseCrossOrigin(request)
    const found = await sessions.find(id)
    if (!found) throw unauthorized()
    const { session, renewed } = found
    if (request.method !== 'GET' && !isSameToken(request.header('x-csrf-token'), session.csrf))
      throw new RpcError('forbidden', 'The header x-csrf-token is missing or from another session: reload the page')
    return {
      ...session,
      ...(renewed !== undefined && { cookie: cookies.set(renewed) }),
      isStillValid: async () => (await sessions.find(renewed ?? id)) !== undefined,
    }
  }
  return async function authenticateOperator(request) {
    const header = request.header('authorization')
    if (header !== undefined) return byKey(header, request.peer)
    const id = cookies.read(request.header('cookie'))
    if (id === undefined) throw unauthorized()
    return byCookie(request, id)
  }
}

/** Also applies to sign-in, because another page must not sign a person in as someone else. The guard checked `Origin`. */
export function refuseCrossOrigin(request: NodeRequest): void {
  const site = request.header('sec-fetch-site')
  const isRead = request.method === 'GET'
  // `none` means that a person opened the address directly, for example an export.
  if (site !== undefined && site !== 'same-origin' && !(isRead && site === 'none')) throw crossOrigin()
  if (!isRead && site === undefined && request.header('origin') === undefined) throw crossOrigin()
}

const crossOrigin = (): RpcError =>
  new RpcError('badOrigin', 'Only the console page may use the session cookie here: use an operator key')
const unauthorized = (): RpcError => new RpcError('unauthorized', 'Sign in first')

function isSameToken(received: string | undefined, expected: string): boolean {
  const [a, b] = [Buffer.from(received ?? ''), Buffer.from(expected)]
  // Compares lengths in bytes, because `timingSafeEqual` throws if they differ and non-ASCII letters take several bytes.
  return a.length === b.length && timingSafeEqual(a, b)
}
