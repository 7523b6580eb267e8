/**
 * The requests of a sign-in: metadata, registration, tokens. They go where a server says, so each is checked: https (or
 * this machine), an allowed host, no redirect, a short answer, a deadline.
 */

import type { Clock } from '../../core/clock.ts'
import { isSafeUrl } from '../../core/loopback.ts'
import { ClientError } from '../errors.ts'
import type { HostGuard } from '../http/hosts.ts'
import type { HttpSender } from '../http/sender.ts'

const maxBytes = 1024 * 1024
const timeoutMs = 15_000

/** The `fetch` that `oauth4webapi` uses. */
export type OAuthFetch = (
  url: string,
  init: { readonly method?: string; readonly headers?: Headers | Record<string, string>; readonly body?: unknown },
) => Promise<Response>

/** Returns a `fetch` for the sign-in of one server. */
export function createOAuthFetch(sender: HttpSender, guard: HostGuard, clock: Clock): OAuthFetch {
  return async (url, { method = 'GET', headers, body }) => {
    if (!isSafeUrl(url)) throw new ClientError('refusedAddress', `Not requested: ${url.slice(0, 200)} is not https`)
    const mayBePrivate = guard.check(url)
    const { response, abort } = sender({
      method: method === 'POST' ? 'POST' : 'GET',
      url,
      mayBePrivate,
      headers: { accept: 'application/json', ...Object.fromEntries(new Headers(headers)) },
      ...(body !== undefined && body !== null && { body: String(body) }),
    })
    const cancelTimer = clock.after(timeoutMs, abort)
    try {
      const answer = await response
      const text = await answer.text(maxBytes)
      const type = answer.header('content-type')
      const challenge = answer.header('www-authenticate')
      return new Response([204, 205, 304].includes(answer.status) ? null : text, {
        status: answer.status < 200 ? 500 : answer.status,
        headers: {
          ...(type !== undefined && { 'content-type': type }),
          ...(challenge !== undefined && { 'www-authenticate': challenge }),
        },
      })
    } finally {
      cancelTimer()
    }
  }
}
