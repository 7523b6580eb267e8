/** Streamable HTTP as `fetch(Request): Response`, for workerd, Deno, Bun and whatever else speaks it. */

import { RpcError } from '../core/error.ts'
import type { Server } from '../protocol/server.ts'
import { toTransportServer } from '../protocol/server.ts'
import type { HttpAppOptions } from './http/app.ts'
import { createHttpApp, pathOf } from './http/app.ts'
import type { EndpointContext } from './http/endpoint.ts'
import type { EventWriter } from './http/events.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from './http/message.ts'
import { noHeaders } from './http/message.ts'
import type { RequestHandler } from './http/routes.ts'

export { admission } from './http/admission.ts'
export type { HttpAppOptions } from './http/app.ts'
export type { HttpOptions } from './http/endpoint.ts'
export { sessions } from './http/legacy/session-routes.ts'
export { sharedSessions } from './http/legacy/shared-sessions.ts'
export { protectedResource } from './http/well-known.ts'

/** Bytes past which logs and progress are dropped. */
const behindBytes = 1024 * 1024
/** Bytes past which a reader has stalled, and is cut off. */
const maxBufferedBytes = 4 * 1024 * 1024

/** What runtimes hand in beside the request: workerd its environment and a context, Deno and Bun one thing each. */
export interface FetchHandler {
  (request: Request, beside?: unknown, context?: { waitUntil?(work: Promise<unknown>): void }): Promise<Response>
  close(): Promise<void>
}

/** Sockets beside the endpoint, made of what they share with it. */
export type EdgeSocketTransport = (around: EndpointContext) => EdgeSocketServer
/** What serves WebSockets on an edge runtime. */
export interface EdgeSocketServer {
  readonly path: string
  /** For requests that do not ask for a socket. */
  readonly handlePlainRequest: RequestHandler
  /** Rejects with what to refuse it with. `beside` is the second argument of the runtime's handler. */
  upgrade(request: Request, asked: HttpRequest, beside: unknown): Promise<Response>
  close(): void
}

/** What the fetch handler does besides; nothing but the endpoint unless said. */
export interface FetchOptions extends HttpAppOptions {
  /** `websocket()` from `sluice/websocket-edge`. */
  readonly websocket?: EdgeSocketTransport
}

/** A server as a `fetch` handler: workerd, Deno, Bun, browsers’ service workers. */
export function toFetch(server: Server, options: FetchOptions = {}): FetchHandler {
  const site = createHttpApp(toTransportServer(server), options)
  const { serveMounted, context: endpoint } = site
  const sockets = options.websocket?.(endpoint)
  if (sockets) site.routes.set(sockets.path, sockets.handlePlainRequest)
  const handler = (...[request, beside, context]: Parameters<FetchHandler>): Promise<Response> =>
    new Promise((resolve) => {
      const asked = toRequest(request)
      const reply = toReply(request, resolve)
      if (sockets && isUpgrade(asked, sockets)) {
        sockets.upgrade(request, asked, beside).then(resolve, (why) => endpoint.refuse(why, asked, reply, noHeaders))
        return
      }
      const served = serveMounted(asked, reply)
      // A call may outlive its response, whose rest the client fetches later: workerd would end both together.
      context?.waitUntil?.(served)
    })
  return Object.assign(handler, {
    close() {
      sockets?.close()
      return site.close()
    },
  })
}

const isUpgrade = (request: HttpRequest, { path }: EdgeSocketServer): boolean =>
  request.header('upgrade')?.toLowerCase() === 'websocket' && pathOf(request.url).endsWith(path)

function toRequest(request: Request): HttpRequest {
  const { host, pathname, search } = new URL(request.url)
  return {
    transport: 'http',
    method: request.method,
    url: pathname + search,
    peer: '',
    header: (name) => request.headers.get(name) ?? undefined,
    // Where the runtime shows the header, it must agree with the URL; where it does not, the URL is all there is.
    host: (request.headers.get('host') ?? host).toLowerCase() === host ? host : undefined,
    port: undefined,
    body: (maxBytes) => readBody(request, maxBytes),
    onClose(then) {
      if (request.signal.aborted) then()
      request.signal.addEventListener('abort', then, { once: true })
      return () => request.signal.removeEventListener('abort', then)
    },
  }
}

async function readBody(request: Request, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let text = ''
  let size = 0
  const reader = request.body?.getReader()
  for (;;) {
    const read = await reader?.read()
    if (!read || read.done) break
    size += read.value.byteLength
    if (size > maxBytes) {
      await reader?.cancel()
      throw new RpcError('payloadTooLarge', `The body is larger than ${maxBytes} bytes`, { data: { maxBytes } })
    }
    text += decode(decoder, read.value)
  }
  return text + decode(decoder)
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array<ArrayBufferLike>): string {
  try {
    return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode()
  } catch (cause) {
    throw new RpcError('parseError', 'Parse error: the body is not UTF-8', { cause })
  }
}

function toReply(request: Request, resolve: (response: Response) => void): HttpReply {
  let gone: (() => void) | undefined
  let complete = false
  request.signal.addEventListener('abort', () => {
    if (!complete) gone?.()
  })
  return {
    send(status, headers, body) {
      complete = true
      resolve(new Response(status === 204 || status === 202 ? null : (body ?? ''), { status, headers }))
    },
    stream(headers: HttpHeaders, over: () => void): EventWriter {
      const encoder = new TextEncoder()
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined
      const body = new ReadableStream<Uint8Array>(
        {
          start(started) {
            controller = started
          },
          cancel() {
            controller = undefined
            over()
            if (!complete) gone?.()
          },
        },
        { highWaterMark: maxBufferedBytes, size: (chunk) => chunk?.byteLength ?? 0 },
      )
      resolve(new Response(body, { status: 200, headers }))
      return {
        write(text) {
          // Looked at before writing: one message may be larger than that, and its reader is not stalled.
          if ((controller?.desiredSize ?? 0) >= 0) {
            controller?.enqueue(encoder.encode(text))
            return
          }
          controller?.error(new Error('The reader stalled'))
          controller = undefined
          over()
          gone?.()
        },
        close() {
          complete = true
          controller?.close()
          controller = undefined
          over()
        },
        get closed() {
          return controller === undefined
        },
        get behind() {
          return (controller?.desiredSize ?? maxBufferedBytes) < maxBufferedBytes - behindBytes
        },
      }
    },
    stopOnClose(stop) {
      gone = () => stop.stop(new RpcError('cancelled', 'The client closed the connection'))
      // It may have gone while the request waited for its turn.
      if (request.signal.aborted) gone()
    },
  }
}
