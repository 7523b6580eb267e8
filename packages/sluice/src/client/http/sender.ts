/**
 * How HTTP requests leave: a small interface, so that Node can bring a leaner sender than `fetch`. Redirects are never
 * followed here; the transport decides about them.
 */

import { ClientError } from '../errors.ts'

/** An HTTP request as a sender takes it. */
export interface OutgoingRequest {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly url: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: string
  /** The operator named this host, so it may have a private address. Others are refused if they resolve to one. */
  readonly mayBePrivate?: boolean
  /** Sending it twice does no harm. A kept connection that the server has just closed is then not an error. */
  readonly isRepeatable?: boolean
  /** Its response stays open, so it must not take a connection that short requests wait for. */
  readonly staysOpen?: boolean
}

/** The head of an HTTP response, and its body when it is read. */
export interface HttpResponse {
  readonly status: number
  /** Returns a header by its lower-case name. */
  header(name: string): string | undefined
  /** Reads the whole body. Throws a `ClientError` if it is longer. */
  text(maxBytes: number): Promise<string>
  /** The body as it arrives. Reading more slowly slows the server down. */
  chunks(): AsyncIterable<Uint8Array>
  /** Lets go of a body that is not read to its end. */
  discard(): void
}

/** A request on its way. */
export interface HttpExchange {
  /** Resolves when the head of the response is there. Rejects with a `ClientError`. */
  readonly response: Promise<HttpResponse>
  abort(): void
}

/** Sends one HTTP request. */
export type HttpSender = (request: OutgoingRequest) => HttpExchange

/** The error of a body that is longer than allowed. */
export const tooLong = (maxBytes: number): ClientError =>
  new ClientError('tooLarge', `The server sent more than ${maxBytes} bytes`)

/** Sends requests with `fetch`, which every runtime has. */
export const fetchSender =
  (fetcher: typeof fetch = fetch): HttpSender =>
  ({ url, method, headers, body }) => {
    const controller = new AbortController()
    return {
      response: fetcher(url, {
        method,
        headers,
        redirect: 'manual',
        signal: controller.signal,
        ...(body !== undefined && { body }),
      }).then(
        (response) => toResponse(response, controller),
        (cause: unknown) => {
          throw new ClientError('unreachable', `${url} cannot be reached`, { cause })
        },
      ),
      abort: () => controller.abort(),
    }
  }

function toResponse(response: Response, controller: AbortController): HttpResponse {
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    if (!response.body) return
    const reader = response.body.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return
        yield value
      }
    } catch (cause) {
      throw new ClientError('closed', 'The connection ended before the response was complete', { cause })
    } finally {
      // A body that was read to its end is not disturbed by this.
      controller.abort()
    }
  }
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    text: (maxBytes) => readText(chunks(), maxBytes),
    chunks,
    discard: () => controller.abort(),
  }
}

/** Joins a body into text, up to a limit. */
export async function readText(chunks: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > maxBytes) throw tooLong(maxBytes)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}
