/** A request and a response of `node:http` for the transports, without `Request` and `Response` objects. */

import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { RpcError } from '../../core/error.ts'
import type { Page } from '../../core/plugin.ts'
import type { Stop } from '../../core/stop.ts'
import { bodyNotUtf8, bodyTooLarge, closedByClient } from '../http/body-errors.ts'
import type { EventWriter } from '../http/events.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from '../http/message.ts'
import { onSocketClose } from './socket-close.ts'
import { loopQueue } from './turn-queue.ts'
import type { UnsentTracker } from './unsent-tracker.ts'
import { behindBytes, maxBufferedBytes } from './unsent-tracker.ts'

/** How many bytes of a refused body are still read, so that a client that is writing sees the answer. */
const maxDiscarded = 4 * 1024 * 1024

export class NodeRequest implements HttpRequest {
  readonly transport = 'http'
  readonly #message: IncomingMessage
  /** Tells a waiting client to send the body (`Expect: 100-continue`). */
  readonly #sendContinue: (() => void) | undefined
  readonly method: string
  constructor(message: IncomingMessage, sendContinue?: () => void) {
    this.#message = message
    this.#sendContinue = sendContinue
    this.method = message.method ?? ''
  }
  get url(): string {
    const { url = '' } = this.#message
    // Express strips the mount path from `url`, and keeps the whole URL here.
    return 'originalUrl' in this.#message ? String(this.#message.originalUrl) : url
  }
  get peer(): string {
    return this.#message.socket.remoteAddress ?? ''
  }
  get port(): number | undefined {
    return this.#message.socket.localPort
  }
  get host(): string | undefined {
    const { rawHeaders, headers } = this.#message
    let hosts = 0
    // Node keeps the first of two Host headers. A proxy in front may have used the other.
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]
      if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
    }
    return hosts === 1 ? headers.host : undefined
  }
  header(name: string): string | undefined {
    const value = this.#message.headers[name]
    // Node silently keeps the first of two. A proxy in front may have used the other.
    if (value !== undefined && (name === 'content-type' || name === 'authorization')) return this.#all(name)
    return typeof value === 'string' ? value : value?.join(', ')
  }
  /** Returns all values of a header, joined as Node joins most of them. */
  #all(name: string): string {
    const { rawHeaders } = this.#message
    const values: string[] = []
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const each = rawHeaders[i]
      if (each?.length === name.length && each.toLowerCase() === name) values.push(rawHeaders[i + 1] ?? '')
    }
    return values.length === 1 && values[0] !== undefined ? values[0] : [...new Set(values)].join(', ')
  }
  onClose(then: () => void): () => void {
    return onSocketClose(this.#message.socket, then)
  }
  body(maxBytes: number, tooLate?: () => RpcError): Promise<string> {
    const message = this.#message
    return new Promise((resolved, rejected) => {
      // Released once the body is read, because a stream may stay open for days and keeps its request in memory.
      let [resolve, reject] = [resolved, rejected]
      const chunks: Buffer[] = []
      let size = 0
      const tooLarge = (): void => {
        // The reply discards the rest of the body.
        message.removeAllListeners('data')
        message.pause()
        reject(bodyTooLarge(maxBytes))
      }
      if (Number(message.headers['content-length']) > maxBytes) return tooLarge()
      // The body cannot be read again, and another parser's result may hide errors that must be refused.
      if (message.readableEnded) return reject(new RpcError('internalError', bodyAlreadyRead))
      // Destroyed while it waited. All its events have been emitted, so none would settle this promise.
      if (message.destroyed) return reject(closedByClient())
      this.#sendContinue?.()
      message.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > maxBytes) tooLarge()
        else chunks.push(chunk)
      })
      message.on('end', () => {
        const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
        const [accept, refuse] = [resolve, reject]
        chunks.length = 0
        resolve = noop
        reject = noop
        loopQueue.add(
          () => {
            if (isUtf8(bytes)) accept(bytes.toString('utf8'))
            else refuse(bodyNotUtf8())
          },
          tooLate && (() => refuse(tooLate())),
        )
      })
      // If a client disconnects in the middle of its body, 'close' is always emitted, 'error' is not.
      // Every message closes in the end, so an error is created only for one that is still awaited.
      const rejectIfAwaited = (cause?: unknown): void => {
        if (reject !== noop) reject(closedByClient(cause))
      }
      message.on('error', rejectIfAwaited)
      message.on('close', () => rejectIfAwaited())
    })
  }
}

const noop = (): void => {}

const bodyAlreadyRead = 'The body was already read: mount the MCP handler before body parsers such as express.json()'

export class NodeReply implements HttpReply {
  readonly #response: ServerResponse
  readonly #unsent: UnsentTracker | undefined
  #onStreamClosed: (() => void) | undefined = undefined
  #stop: Stop | undefined = undefined
  #listening = false
  #continueSent = false
  constructor(response: ServerResponse, unsent?: UnsentTracker) {
    this.#response = response
    this.#unsent = unsent
  }
  send(status: number, headers: HttpHeaders, body = ''): void {
    const response = this.#response
    if (response.headersSent || response.destroyed) return
    const lines = status === 204 ? [] : ['content-length', String(Buffer.byteLength(body))]
    for (const name in headers) lines.push(name, headers[name] ?? '')
    response.writeHead(status, lines)
    if (this.#mayBeEndless()) {
      if (body === '') response.flushHeaders()
      else response.write(body)
      this.#discard()
    } else response.end(body)
    this.#unsent?.track(response)
  }
  /** Tells a waiting client to send its body. */
  sendContinue(): void {
    this.#continueSent = true
    this.#response.writeContinue()
  }
  /** Whether much of the body may still come, because it is chunked or longer than `maxDiscarded`. */
  #mayBeEndless(): boolean {
    const { complete, headers } = this.#response.req
    if (complete || (headers.expect !== undefined && !this.#continueSent)) return false
    return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > maxDiscarded
  }
  /**
   * Discards the rest of the body after the answer. A reset connection might lose the answer, and reading for ever
   * would be wasted work. So a few more megabytes are read. Then the connection is closed if the body has not ended.
   */
  #discard(): void {
    const response = this.#response
    const { req } = response
    let remaining = maxDiscarded
    req.removeAllListeners('data')
    req.on('data', ({ length }: Buffer) => {
      remaining -= length
      if (remaining >= 0) return
      req.removeAllListeners('data')
      this.#unsent?.destroy(response.socket)
      response.socket?.destroy()
    })
    req.on('end', () => response.end())
    req.resume()
  }
  stream(headers: HttpHeaders, onClosed: () => void): EventWriter {
    const response = this.#response
    response.writeHead(200, headers)
    response.flushHeaders()
    this.#onStreamClosed = onClosed
    this.#listen()
    return new NodeEventWriter(response, this.#unsent)
  }
  stopOnClose(stop: Stop): void {
    this.#stop = stop
    // The client may have disconnected between the end of its body and the end of that turn.
    if (this.#response.destroyed) this.#closed()
    else this.#listen()
  }
  #listen(): void {
    if (this.#listening) return
    this.#listening = true
    this.#response.on('close', () => this.#closed())
  }
  #closed(): void {
    this.#onStreamClosed?.()
    if (!this.#response.writableFinished) this.#stop?.stop(closedByClient())
  }
}

/** A class, because there may be thousands, and closures would be made for each. */
class NodeEventWriter implements EventWriter {
  readonly #response: ServerResponse
  readonly #unsent: UnsentTracker | undefined
  constructor(response: ServerResponse, unsent: UnsentTracker | undefined) {
    this.#response = response
    this.#unsent = unsent
  }
  write(text: string): void {
    if (this.closed) return
    const response = this.#response
    // Checked before writing, because one message may be larger than the limit without a stalled reader.
    if (response.writableLength > maxBufferedBytes) {
      this.#unsent?.destroy(response.socket)
      response.destroy()
      return
    }
    response.write(text)
    this.#unsent?.track(response)
  }
  close(): void {
    this.#response.end()
  }
  get closed(): boolean {
    return this.#response.destroyed || this.#response.writableEnded
  }
  get behind(): boolean {
    return this.#response.writableLength > behindBytes
  }
}

/** Answers a refused upgrade request, and closes its connection. */
export function replyOnSocket(request: IncomingMessage, socket: Duplex): NodeReply {
  const { ServerResponse } = process.getBuiltinModule('node:http')
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Socket)
  response.on('finish', () => socket.end())
  return new NodeReply(response)
}

export const notFoundPage: Page = {
  status: 404,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'Not found. The MCP endpoint is at another path, usually /mcp\n',
}
