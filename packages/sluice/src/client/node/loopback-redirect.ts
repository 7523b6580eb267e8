/**
 * The page on 127.0.0.1 to which a browser returns after a sign-in on this machine. It takes exactly one answer.
 *
 * https://datatracker.ietf.org/doc/html/rfc8252#section-7.3
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ClientError } from '../errors.ts'

export interface LoopbackRedirectOptions {
  /** Shows the sign-in page: opens a browser, or prints the address. */
  show(page: string): void | Promise<void>
  /** A fixed port, for clients that were registered with it. By default a free one. */
  readonly port?: number
  /** Ends the waiting. */
  readonly signal?: AbortSignal
}

/** The options of `createOAuth` for a user at this machine. */
export interface LoopbackRedirect {
  readonly redirectUrl: string
  authorize(page: string): Promise<string>
  close(): void
}

const origin = 'http://127.0.0.1'

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'",
  'cache-control': 'no-store',
}

/** Listens on 127.0.0.1 until it is closed: `createOAuth({ url, ...redirect })`. */
export async function createLoopbackRedirect(options: LoopbackRedirectOptions): Promise<LoopbackRedirect> {
  const { show, port = 0, signal } = options
  let expected: { readonly state: string; answered(url: string): void } | undefined
  const server = createServer((request, response) => {
    // Any page can send a browser here, also to a target that is not a URL, such as `//`.
    const url = URL.canParse(request.url ?? '', origin) ? new URL(request.url ?? '', origin) : undefined
    // Only the answer to the sign-in that waits is taken.
    const isExpected = url?.pathname === '/callback' && url.searchParams.get('state') === expected?.state
    response.writeHead(isExpected ? 200 : 400, headers)
    response.end(isExpected ? '<p>Signed in. You can close this page.</p>' : '<p>No sign-in waits here.</p>')
    if (isExpected) expected?.answered(url.href)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return {
    redirectUrl,
    async authorize(page) {
      const state = new URL(page).searchParams.get('state')
      if (state === null) throw new ClientError('unauthorized', 'The sign-in has no state')
      const answer = Promise.withResolvers<string>()
      expected = { state, answered: answer.resolve }
      const abort = (): void => answer.reject(new ClientError('cancelled', 'The sign-in was cancelled'))
      signal?.addEventListener('abort', abort, { once: true })
      try {
        await show(page)
        return await answer.promise
      } finally {
        expected = undefined
        signal?.removeEventListener('abort', abort)
      }
    },
    close,
  }
}
