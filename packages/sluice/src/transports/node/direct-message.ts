/** A request and a response that are read from and written to a socket, without the objects of `node:http`. */

import { isUtf8 } from 'node:buffer'
import type { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { RpcError } from '../../core/error.ts'
import type { Stop } from '../../core/stop.ts'
import { bodyNotUtf8, bodyTooLarge, closedByClient } from '../http/body-errors.ts'
import type { EventWriter } from '../http/events.ts'
import type { HttpHeaders, HttpReply, HttpRequest } from '../http/message.ts'
import type { DirectHead } from './direct-head.ts'
import { onSocketClose } from './socket-close.ts'
import { loopQueue } from './turn-queue.ts'
import type { UnsentTracker } from './unsent-tracker.ts'
import { behindBytes, maxBufferedBytes } from './unsent-tracker.ts'

/** Loaded with the first response, because a server on stdio does not need `node:http`. */
let reasons: typeof STATUS_CODES | undefined

export class DirectRequest implements HttpRequest {
  readonly transport = 'http'
  readonly method = 'POST'
  readonly #socket: Socket
  readonly #head: DirectHead
  readonly #bytes: Buffer
  constructor(socket: Socket, head: DirectHead, bytes: Buffer) {
    this.#socket = socket
    this.#head = head
    this.#bytes = bytes
  }
  get url(): string {
    return this.#head.url
  }
  get peer(): string {
    return this.#socket.remoteAddress ?? ''
  }
  get port(): number | undefined {
    return this.#socket.localPort
  }
  get host(): string | undefined {
    return this.#head.headers.get('host')
  }
  header(name: string): string | undefined {
    return this.#head.headers.get(name)
  }
  onClose(then: () => void): () => void {
    return onSocketClose(this.#socket, then)
  }
  body(maxBytes: number, tooLate?: () => RpcError): Promise<string> {
    const bytes = this.#bytes
    return new Promise((resolve, reject) => {
      if (bytes.length > maxBytes) return reject(bodyTooLarge(maxBytes))
      if (this.#socket.destroyed) return reject(closedByClient())
      loopQueue.add(
        () => {
          if (isUtf8(bytes)) resolve(bytes.toString('utf8'))
          else reject(bodyNotUtf8())
        },
        tooLate && (() => reject(tooLate())),
      )
    })
  }
}

/** What a response needs of its connection. */
export interface DirectConnection {
  readonly socket: Socket
  readonly unsent: UnsentTracker
  /** The end of every head: whether the connection stays open, and for how long. */
  readonly connectionLines: () => string
  /** Called when the response is complete, so that the next request may be read. */
  complete(): void
}

export class DirectReply implements HttpReply {
  readonly #connection: DirectConnection
  #sent = false
  #complete = false
  #stop: Stop | undefined = undefined
  #onStreamClosed: (() => void) | undefined = undefined
  constructor(connection: DirectConnection) {
    this.#connection = connection
  }
  send(status: number, headers: HttpHeaders, body = ''): void {
    const { socket, unsent } = this.#connection
    if (this.#sent || socket.destroyed) return
    const length = status === 204 ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
    const head = this.#head(status, headers)
    this.#sent = true
    socket.write(`${head}${length}\r\n${body}`)
    unsent.track(this.#connection)
    this.#end()
  }
  stream(headers: HttpHeaders, onClosed: () => void): EventWriter {
    const head = this.#head(200, headers)
    this.#sent = true
    this.#onStreamClosed = onClosed
    this.#connection.socket.write(`${head}transfer-encoding: chunked\r\n\r\n`)
    return new DirectEventWriter(this.#connection, () => this.#end())
  }
  stopOnClose(stop: Stop): void {
    this.#stop = stop
    // The client may have disconnected while its request waited for its turn.
    if (this.#connection.socket.destroyed) this.disconnected()
  }
  /** Called when the client has disconnected before the response was complete. */
  disconnected(): void {
    if (this.#complete) return
    this.#complete = true
    this.#onStreamClosed?.()
    this.#stop?.stop(closedByClient())
  }
  /** Returns the head up to the length. Throws before anything is sent, so that the refusal can be. */
  #head(status: number, headers: HttpHeaders): string {
    reasons ??= process.getBuiltinModule('node:http').STATUS_CODES
    let text = `HTTP/1.1 ${status} ${reasons[status] ?? 'Unknown'}\r\n`
    for (const name in headers) text += `${name}: ${checkedValue(headers[name] ?? '')}\r\n`
    return `${text}date: ${httpDate()}\r\n${this.#connection.connectionLines()}`
  }
  #end(): void {
    if (this.#complete) return
    this.#complete = true
    this.#onStreamClosed?.()
    this.#connection.complete()
  }
}

/** A class, because there may be thousands, and closures would be made for each. */
class DirectEventWriter implements EventWriter {
  readonly #connection: DirectConnection
  readonly #end: () => void
  #closed = false
  constructor(connection: DirectConnection, end: () => void) {
    this.#connection = connection
    this.#end = end
  }
  write(text: string): void {
    if (this.closed || text === '') return
    const { socket, unsent } = this.#connection
    // Checked before writing, because one message may be larger than the limit without a stalled reader.
    if (socket.writableLength > maxBufferedBytes) {
      unsent.destroy(socket)
      return
    }
    socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`)
    unsent.track(this.#connection)
  }
  close(): void {
    if (this.closed) return
    this.#closed = true
    this.#connection.socket.write('0\r\n\r\n')
    this.#end()
  }
  get closed(): boolean {
    return this.#closed || this.#connection.socket.destroyed
  }
  get behind(): boolean {
    return this.#connection.socket.writableLength > behindBytes
  }
}

const unsafeInHeader = /[^\t\x20-\x7e\x80-\xff]/

/** Returns a header value, or throws as `node:http` does. A line break would begin another header. */
function checkedValue(value: string): string {
  if (unsafeInHeader.test(value)) throw new TypeError('A header has a character that is not allowed')
  return value
}

let date = { second: 0, text: '' }

/** Returns the Date header. It is made once per second. */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() }
  return date.text
}
