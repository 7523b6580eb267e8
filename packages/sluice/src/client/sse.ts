/**
 * HTTP+SSE of 2024-11-05: one GET stream from the server, a POST per message to the address its first event names. That
 * address must have the same origin, otherwise a server could have messages and credentials sent elsewhere.
 */

import { notOpen, receiveText } from './channel.ts'
import { ClientError } from './errors.ts'
import { createEventParser } from './http/event-parser.ts'
import { createRequester } from './http/requester.ts'
import type { HttpResponse } from './http/sender.ts'
import { isEventStream } from './http/stream.ts'
import type { HttpTransportOptions } from './http/transport.ts'
import { defaultMaxMessageBytes } from './message.ts'
import type { Receiver, Transport } from './transport.ts'

/** Returns a transport over HTTP+SSE. `url` is the address of the event stream, usually `/sse`. */
export function sseTransport(url: string | URL, options: HttpTransportOptions = {}): Transport {
  const { maxMessageBytes = defaultMaxMessageBytes } = options
  const server = String(url)
  const requester = createRequester(server, options)
  let stream: { readonly response: HttpResponse; readonly endpoint: string } | undefined
  let revision: string | undefined
  /** A stream that has not named its address yet. */
  let opening: HttpResponse | undefined

  /** Reads events until the stream ends. `ready` is called with the address for messages. */
  async function read(response: HttpResponse, receiver: Receiver, ready: (endpoint: string) => void): Promise<void> {
    const parser = createEventParser(maxMessageBytes)
    for await (const chunk of response.chunks())
      for (const { type, data } of parser.push(chunk)) {
        if (type === 'endpoint') ready(endpointOf(data, server))
        else if (type === 'message') receiveText(data, receiver)
      }
    throw new ClientError('closed', 'The event stream ended')
  }

  return {
    server,
    mirrorsHeaders: false,
    async open(receiver) {
      const response = await requester.send({ method: 'GET', url: server, headers: { accept: 'text/event-stream' } })
      if (response.status !== 200 || !isEventStream(response)) {
        response.discard()
        const { status } = response
        throw new ClientError('status', `No event stream at ${server} (HTTP ${status})`, { mayHaveRun: false, status })
      }
      opening = response
      await new Promise<void>((resolve, reject) => {
        read(response, receiver, (endpoint) => {
          if (stream) return
          opening = undefined
          stream = { response, endpoint }
          resolve()
        }).catch((thrown: unknown) => {
          const error =
            thrown instanceof ClientError
              ? thrown
              : new ClientError('closed', 'The event stream broke', { cause: thrown })
          reject(error)
          response.discard()
          if (stream?.response !== response) return
          stream = undefined
          receiver.closed(error)
        })
      })
    },
    async send(message) {
      if (!stream) throw notOpen()
      const response = await requester.send({
        method: 'POST',
        url: stream.endpoint,
        headers: {
          'content-type': 'application/json',
          ...(revision !== undefined && { 'mcp-protocol-version': revision }),
        },
        body: JSON.stringify(message),
      })
      const { status } = response
      response.discard()
      if (status >= 300) throw new ClientError('status', `HTTP ${status}`, { status, mayHaveRun: status >= 500 })
    },
    agreed(next) {
      revision = next
    },
    close() {
      const ended = stream
      stream = undefined
      requester.close()
      opening?.discard()
      opening = undefined
      ended?.response.discard()
      return Promise.resolve()
    },
  }
}

function endpointOf(data: string, server: string): string {
  const url = URL.canParse(data, server) ? new URL(data, server) : undefined
  if (!url || url.origin !== new URL(server).origin)
    throw new ClientError('refusedAddress', 'The server names an address for messages on another host')
  return url.href
}
