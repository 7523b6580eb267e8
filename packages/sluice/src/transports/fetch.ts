/** Streamable HTTP as `fetch(Request): Response`, for workerd, Deno, Bun and other runtimes with that interface. */

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

export { protectedResource } from '../core/protected-resource.ts'
export { admission } from './http/admission.ts'
export type { HttpAppOptions } from './http/app.ts'
export type { HttpOptions } from './http/endpoint.ts'
export { sessions } from './http/legacy/session-routes.ts'
export { sharedSessions } from './http/legacy/shared-sessions.ts'

/** Unsent bytes above which logs and progress are dropped. */
const behindBytes = 1024 * 1024
/** Unsent bytes above which a reader counts as stalled, and its connection is closed. */
const maxBufferedBytes = 4 * 1024 * 1024

/**
 * The `fetch` handler. Besides the request, workerd passes its environment and a context; Deno and Bun pass one value
 * each.
 */
export interface FetchHandler {
  (
    request: Request,
    runtimeArgument?: unknown,
    context?: { waitUntil?(work: Promise<unknown>): void },
  ): Promise<Response>
  close(): Promise<void>
}

/** Creates the sockets beside the endpoint, from the endpoint's context. */
export type EdgeSocketTransport = (context: EndpointContext) => EdgeSocketServer
/** Serves WebSockets on an edge runtime. */
export interface EdgeSocketServer {
  readonly path: string
  /** Answers requests on this path that do not ask for a socket. */
  readonly handlePlainRequest: RequestHandler
  /** Opens a socket. Rejects with the refusal. `runtimeArgument` is the second argument of the runtime's handler. */
  upgrade(request: Request, httpRequest: HttpRequest, runtimeArgument: unknown): Promise<Response>
  close(): void
}

/** The options of the `fetch` handler. By default it serves only the endpoint. */
export interface FetchOptions extends HttpAppOptions {
  /** Serves WebSockets: `websocket()` from `sluice/websocket-edge`. */
  readonly websocket?: EdgeSocketTransport
}

/** Returns a server as a `fetch` handler, for workerd, Deno, Bun and browsers’ service workers. */
export function toFetch(server: Server, options: FetchOptions = {}): FetchHandler {
  const app = createHttpApp(toTransportServer(server), options)
  const { serveMounted, context: endpoint } = app
  const sockets = options.websocket?.(endpoint)
  if (sockets) app.routes.set(sockets.path, sockets.handlePlainRequest)
  const handler = (...[request, runtimeArgument, context]: Parameters<FetchHandler>): Promise<Response> =>
    new Promise((resolve) => {
      const httpRequest = toRequest(request)
      const reply = toReply(request, resolve)
      if (sockets && isUpgrade(httpRequest, sockets)) {
        sockets
          .upgrade(request, httpRequest, runtimeArgument)
          .then(resolve, (error) => endpoint.refuse(error, httpRequest, reply, noHeaders))
        return
      }
      const served = serveMounted(httpRequest, reply)
      // A call may outlive its response, because the client can resume the stream, and its record is written after it.
      // Otherwise workerd would end all of them together.
      context?.waitUntil?.(served.then(app.server.flush))
    })
  return Object.assign(handler, {
    close() {
      sockets?.close()
      return app.close()
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
    // If the runtime shows the header, it must agree with the URL. Otherwise only the URL is known.
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
    const read = await reader?.read().catch(() => Promise.reject(closedByClient()))
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

const closedByClient = (): RpcError => new RpcError('cancelled', 'The client closed the connection')

function decode(decoder: InstanceType<typeof TextDecoder>, bytes?: Uint8Array<ArrayBufferLike>): string {
  try {
    return decoder.decode(bytes, { stream: !!bytes })
  } catch (cause) {
    throw new RpcError('parseError', 'Parse error: the body is not UTF-8', { cause })
  }
}

function toReply(request: Request, resolve: (response: Response) => void): HttpReply {
  let onDisconnect: (() => void) | undefined
  let complete = false
  request.signal.addEventListener('abort', () => {
    if (!complete) onDisconnect?.()
  })
  return {
    send(status, headers, body) {
      complete = true
      // A response of status 204 refuses even an empty text.
      resolve(new Response(body || null, { status, headers }))
    },
    stream(headers: HttpHeaders, onClosed: () => void): EventWriter {
      const encoder = new TextEncoder()
      let controller: ReadableStreamDefaultController<Uint8Array> | undefined
      const body = new ReadableStream<Uint8Array>(
        {
          start(started) {
            controller = started
          },
          cancel() {
            controller = undefined
            onClosed()
            if (!complete) onDisconnect?.()
          },
        },
        { highWaterMark: maxBufferedBytes, size: (chunk) => chunk?.byteLength ?? 0 },
      )
      resolve(new Response(body, { status: 200, headers }))
      return {
        write(text) {
          // Checked before writing, because one message may be larger than the limit without a stalled reader.
          if ((controller?.desiredSize ?? 0) >= 0) {
            controller?.enqueue(encoder.encode(text))
            return
          }
          controller?.error(new Error('The reader stalled'))
          controller = undefined
          onClosed()
          onDisconnect?.()
        },
        close() {
          complete = true
          controller?.close()
          controller = undefined
          onClosed()
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
      onDisconnect = () => stop.stop(closedByClient())
      // The client may have disconnected while the request waited for its turn.
      if (request.signal.aborted) onDisconnect()
    },
  }
}
