/**
 * Streamable HTTP, both eras: one POST per message, the answer as JSON or as a stream of events. A legacy session has a
 * standalone stream besides, and streams that break are resumed where the server gave event ids.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
 */

import type { Clock } from '../../core/clock.ts'
import { systemClock } from '../../core/clock.ts'
import { InFlight } from '../../core/in-flight.ts'
import type { Id } from '../../core/json.ts'
import { isLegacy } from '../../protocol/revisions.ts'
import { ClientError } from '../errors.ts'
import type { Message } from '../message.ts'
import { defaultMaxMessageBytes, parseMessage, toMessage } from '../message.ts'
import type { Receiver, Transport } from '../transport.ts'
import type { Authorization } from './authorization.ts'
import type { HostPolicy } from './hosts.ts'
import type { Flight } from './requester.ts'
import { abortFlight, createRequester, pauseFlight } from './requester.ts'
import type { HttpResponse, HttpSender } from './sender.ts'
import { createStandaloneStreamReader } from './standalone-stream.ts'
import { isEventStream, readStream } from './stream.ts'

/** Options of the HTTP transports. */
export interface HttpTransportOptions extends HostPolicy {
  /** Sent with every request. */
  readonly headers?: { readonly [name: string]: string }
  /** Holds the credential: OAuth, or `bearer(token)`. */
  readonly authorization?: Authorization
  /** Sends the requests. By default `fetch`; `nodeSender()` of `sluice/client-node` is faster on Node. */
  readonly sender?: HttpSender
  /** The longest message that is read. */
  readonly maxMessageBytes?: number
  readonly clock?: Clock
}

const acceptBoth = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
/** Requests that change nothing. Calls of tools are not among them. */
const repeatable = /^(initialize|ping)$|\/(discover|list|get|read|complete)$/
/** How often in a row a stream is resumed without a new event. */
const maxResumptions = 5
const minRetryMs = 10
const maxRetryMs = 30_000

/** Returns a transport over Streamable HTTP to the server at `url`. */
export function httpTransport(url: string | URL, options: HttpTransportOptions = {}): Transport {
  const { maxMessageBytes = defaultMaxMessageBytes, clock = systemClock } = options
  const server = String(url)
  const requester = createRequester(server, options)
  let receiver: Receiver | undefined
  let session: string | undefined
  let revision: string | undefined
  let common: { readonly [name: string]: string } = {}
  let posted: { readonly [name: string]: string } = acceptBoth
  /** Requests whose response stream is open. */
  const flights = new InFlight<RequestFlight>()
  const standalone = createStandaloneStreamReader({
    request: (headers) => requester.send({ method: 'GET', url: server, headers: { ...common, ...headers } }),
    message: (message) => receiver?.message(message),
    ignored: (problem) => receiver?.ignored(problem),
    ended: () => receiver?.streamEnded?.(),
    maxMessageBytes,
    clock,
  })
  function recompute(): void {
    common = {
      ...(session !== undefined && { 'mcp-session-id': session }),
      ...(revision !== undefined && { 'mcp-protocol-version': revision }),
    }
    posted = { ...acceptBoth, ...common }
  }

  async function send(message: Message, headers?: { readonly [name: string]: string }): Promise<void> {
    const id = message.method === undefined ? undefined : message.id
    const flight: RequestFlight = { id, aborted: false }
    const place = flights.add(flight)
    try {
      const response = await requester.send(
        {
          method: 'POST',
          url: server,
          headers: headers ? { ...posted, ...headers } : posted,
          body: JSON.stringify(message),
          isRepeatable: message.method !== undefined && repeatable.test(message.method),
          ...(message.method === 'subscriptions/listen' && { staysOpen: true }),
        },
        flight,
      )
      if (message.method === 'initialize' && response.status < 300) {
        session = visibleAscii(response.header('mcp-session-id'))
        recompute()
      }
      // A notification or an answer was accepted; a body is not expected.
      if (id === undefined && response.status < 300) response.discard()
      else if (id === undefined) await failWith(response)
      else if (response.status < 300 && isEventStream(response)) await follow(response, id, flight)
      else if (isLost(response)) throw lostSession(response)
      else if (isJson(response)) receive(await response.text(maxMessageBytes), response, id)
      else await failWith(response)
    } finally {
      flights.delete(place)
    }
  }

  const isLost = ({ status }: HttpResponse): boolean => status === 404 && session !== undefined

  function receive(text: string, response: HttpResponse, id: Id): void {
    const refused = response.status >= 400
    let message: Message
    try {
      message = text.startsWith('[') ? onlyAnswer(text, id) : parseMessage(text)
    } catch (thrown) {
      if (refused) throw statusError(response, text)
      throw thrown
    }
    // A refusal may lack the id, since the server may not have read it. Its error still answers this request.
    if (refused && message.error !== undefined && (message.id === undefined || message.id === null))
      receiver?.message({ jsonrpc: '2.0', id, error: message.error }, id, response.status)
    else if (message.id !== id) throw new ClientError('protocol', 'The server answered with the id of another request')
    else receiver?.message(message, id, refused ? response.status : undefined)
  }

  /** Reads the response stream of a request, and goes back for the rest of a legacy one that broke off. */
  async function follow(first: HttpResponse, id: Id, flight: Flight): Promise<void> {
    let response: HttpResponse = first
    let lastEventId: string | undefined
    for (let attempt = 0; ; attempt++) {
      const deliver = (message: Message): boolean => {
        const isResponse = message.method === undefined
        if (isResponse && message.id !== id) receiver?.ignored('a response to another request on this stream')
        else receiver?.message(message, id)
        return isResponse && message.id === id
      }
      const end = await readStream(response, maxMessageBytes, clock, deliver)
      if (end.answered || flight.aborted) return
      // A server may close the stream any number of times while it works.
      if (end.lastEventId !== undefined && end.lastEventId !== lastEventId) attempt = 0
      lastEventId = end.lastEventId ?? lastEventId
      if (lastEventId === undefined || !isLegacy(revision) || attempt >= maxResumptions) throw endedEarly(end.error)
      await pauseFlight(flight, Math.min(Math.max(end.retryMs ?? 1000, minRetryMs), maxRetryMs), clock)
      if (flight.aborted) return
      response = await resume(lastEventId, flight)
    }
  }

  /** The request has begun to run. A refusal to resume must not look like a refusal of the request, which is repeated. */
  async function resume(lastEventId: string, flight: Flight): Promise<HttpResponse> {
    const headers = { accept: 'text/event-stream', ...common, 'last-event-id': lastEventId }
    try {
      const response = await requester.send({ method: 'GET', url: server, headers }, flight)
      return response.status < 300 ? response : await failWith(response)
    } catch (cause) {
      throw endedEarly(cause)
    }
  }

  return {
    server,
    mirrorsHeaders: true,
    open(to) {
      receiver = to
      return Promise.resolve()
    },
    send,
    abort(id) {
      for (const flight of flights) if (flight.id === id) abortFlight(flight)
    },
    agreed(next) {
      revision = next
      if (next === undefined) {
        session = undefined
        standalone.close()
      }
      recompute()
    },
    listen: () => standalone.open(),
    async close() {
      standalone.close()
      for (const flight of flights) if (flight.id !== undefined) abortFlight(flight)
      const ended = session
      session = undefined
      if (ended !== undefined) await endSession(ended)
      recompute()
      requester.close()
    },
  }

  /** The server may refuse to end sessions, or be unreachable: the session then expires by itself. */
  async function endSession(ended: string): Promise<void> {
    const headers = { ...common, 'mcp-session-id': ended }
    const cancelled: Flight = { aborted: false }
    const cancelTimer = clock.after(2000, () => cancelled.abort?.())
    try {
      const response = await requester.send({ method: 'DELETE', url: server, headers }, cancelled)
      response.discard()
    } catch {
      // Nothing depends on it.
    } finally {
      cancelTimer()
    }
  }
}

/** `id`: of the request, which ends its response stream. */
interface RequestFlight extends Flight {
  readonly id: Id | undefined
}

const isJson = (response: HttpResponse): boolean =>
  /^application\/(\S+\+)?json\b/i.test(response.header('content-type') ?? '')

function lostSession(response: HttpResponse): ClientError {
  response.discard()
  return new ClientError('session', 'The server no longer knows this session', { mayHaveRun: false, status: 404 })
}

/** 2025-03-26 allows an array of responses; one request has one answer in it. */
function onlyAnswer(text: string, id: Id): Message {
  const values: unknown = JSON.parse(text)
  const found = (Array.isArray(values) ? values : []).map(toMessage).find((message) => message.id === id)
  if (!found) throw new ClientError('protocol', 'The server answered without a response to this request')
  return found
}

const endedEarly = (cause: unknown): ClientError =>
  new ClientError('closed', 'The response stream ended before the answer', { cause })

const visibleAscii = (value: string | undefined): string | undefined =>
  value !== undefined && /^[\x21-\x7e]+$/.test(value) ? value : undefined

async function failWith(response: HttpResponse): Promise<never> {
  throw statusError(response, await response.text(64 * 1024).catch(() => ''))
}

function statusError(response: HttpResponse, body: string): ClientError {
  const { status } = response
  const text = body.slice(0, 200).trim()
  return new ClientError('status', `HTTP ${status}${text === '' ? '' : `: ${text}`}`, {
    status,
    // 4xx means that the request was refused; a 5xx may come from a server that has begun.
    mayHaveRun: status >= 500 || status < 400,
  })
}
