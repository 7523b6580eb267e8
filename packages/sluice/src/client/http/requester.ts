/** One HTTP request of a client with everything that applies to all of them: guard, credential, challenges, redirects. */

import type { Clock } from '../../core/clock.ts'
import { InFlight } from '../../core/in-flight.ts'
import { ClientError } from '../errors.ts'
import { createHostGuard } from './hosts.ts'
import type { HttpResponse, OutgoingRequest } from './sender.ts'
import { fetchSender } from './sender.ts'
import type { HttpTransportOptions } from './transport.ts'

/** A request that can be ended from outside, whichever attempt it is at. */
export interface Flight {
  aborted: boolean
  abort?(): void
}

export interface Requester {
  /** Resolves with a response that is neither a challenge that was met nor a redirect. */
  send(request: OutgoingRequest, flight?: Flight): Promise<HttpResponse>
  close(): void
}

/** After so many refusals the request fails, whatever the authorization says: a server could ask forever. */
const maxChallenges = 3
const maxRedirects = 3

export function abortFlight(flight: Flight): void {
  flight.aborted = true
  flight.abort?.()
}

/** Waits, or returns early when the flight is aborted. */
export const pauseFlight = (flight: Flight, ms: number, clock: Clock): Promise<void> =>
  new Promise((resolve) => {
    const cancelTimer = clock.after(ms, resolve)
    flight.abort = () => {
      cancelTimer()
      resolve()
    }
  })

export function createRequester(server: string, options: HttpTransportOptions): Requester {
  const { headers = {}, authorization, sender = fetchSender() } = options
  const guard = createHostGuard(server, options)
  const own = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const open = new InFlight<Flight>()

  const hasOwn = Object.keys(own).length > 0

  function attempt(target: OutgoingRequest, flight: Flight, token: string | undefined): Promise<HttpResponse> {
    if (flight.aborted) throw new ClientError('cancelled', 'Cancelled', { mayHaveRun: false })
    const { response, abort } = sender(
      hasOwn || token !== undefined
        ? {
            ...target,
            headers: { ...target.headers, ...own, ...(token !== undefined && { authorization: token }) },
          }
        : target,
    )
    flight.abort = abort
    return response
  }

  /** One async function for all of it, because a gateway sends one request per call. */
  async function send(request: OutgoingRequest, flight: Flight): Promise<HttpResponse> {
    const id = open.add(flight)
    try {
      let target: OutgoingRequest = { ...request, mayBePrivate: guard.check(request.url) }
      let challenges = 0
      let redirects = 0
      for (;;) {
        const token = authorization ? await authorization.token() : undefined
        const response = await attempt(target, flight, token)
        const { status } = response
        if (status === 401 || (status === 403 && response.header('www-authenticate') !== undefined)) {
          const header = response.header('www-authenticate')
          if (authorization === undefined || challenges >= maxChallenges)
            throw refusal(status, header, await referenceIn(response))
          response.discard()
          const isRepeated = await authorization.challenged({ status, header, attempt: challenges, refused: token })
          challenges++
          if (!isRepeated) throw refusal(status, header)
        } else if (status >= 300 && status < 400 && status !== 304) {
          response.discard()
          target = { ...target, url: redirected(target, response) }
          if (++redirects > maxRedirects)
            throw new ClientError('status', 'Too many redirects', { mayHaveRun: false, status })
        } else return response
      }
    } finally {
      open.delete(id)
    }
  }

  return {
    send: (request, flight = { aborted: false }) => send(request, flight),
    close() {
      for (const flight of open) abortFlight(flight)
    },
  }
}

const maxRefusalBytes = 16 * 1024

/** Returns the reference in a refusal, by which the server’s operator finds it in the log. */
async function referenceIn(response: HttpResponse): Promise<string | undefined> {
  // A body of unknown length may never end, and the refusal is clear without it.
  if (!(Number(response.header('content-length')) <= maxRefusalBytes)) {
    response.discard()
    return undefined
  }
  try {
    const body = JSON.parse(await response.text(maxRefusalBytes)) as { error?: { data?: { reference?: unknown } } }
    const reference = body.error?.data?.reference
    return typeof reference === 'string' && /^[\w-]{1,64}$/.test(reference) ? reference : undefined
  } catch {
    return undefined
  }
}

const refusal = (status: number, challenge: string | undefined, reference?: string): ClientError =>
  new ClientError(
    'unauthorized',
    status === 401 ? 'The server asks for a credential (HTTP 401)' : 'The credential does not allow this (HTTP 403)',
    { mayHaveRun: false, status, challenge, reference },
  )

/** A redirect keeps scheme, host and port, and the method: otherwise credentials and arguments would leave with it. */
function redirected({ url }: OutgoingRequest, response: HttpResponse): string {
  const { status } = response
  const location = response.header('location')
  const next = location !== undefined && URL.canParse(location, url) ? new URL(location, url) : undefined
  if (!next || next.origin !== new URL(url).origin || (status !== 307 && status !== 308))
    throw new ClientError('refusedAddress', `The server redirects elsewhere (HTTP ${status}); not followed`, {
      mayHaveRun: false,
      status,
    })
  return next.href
}
