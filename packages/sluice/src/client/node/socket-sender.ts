/**
 * Sends requests over its own sockets, one request at a time on each. `node:http`'s client spends more per request
 * than all layers of a server together, and a gateway sends one request per call. What this sender does not know (other
 * methods than POST, headers outside ASCII or of the message itself) goes to the sender over `node:http`.
 */

import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { getOrCreate } from '../../core/get-or-create.ts'
import { ClientError } from '../errors.ts'
import type { HttpExchange, HttpResponse, HttpSender, OutgoingRequest } from '../http/sender.ts'
import type { ResponseHead, ResponseParser } from './response-parser.ts'
import { createResponseParser } from './response-parser.ts'
import type { NodeSender, NodeSenderOptions } from './sender.ts'
import { brokeOff, createNodeSender, publicLookup, toSendError } from './sender.ts'
import { SocketResponse } from './socket-response.ts'

/** A server that says nothing about it may close an idle connection soon, and then the next request would be in doubt. */
const defaultIdleMs = 4000
const maxIdleMs = 60_000

/** Creates a sender over sockets. Close it to end the connections. */
export function createSocketSender({ maxConnections = 256 }: NodeSenderOptions = {}): NodeSender {
  const fallback = createNodeSender({ maxConnections })
  const pools = new Map<string, Pool>()
  const send: HttpSender = (request) => {
    const target = targetOf(request.url)
    const text = request.method === 'POST' ? requestText(request, target) : undefined
    if (text === undefined) return fallback.send(request)
    const mayBePrivate = request.mayBePrivate === true
    // Apart, so that a request that must not reach a private address does not take a connection that was made to one.
    const key = `${mayBePrivate} ${target.origin}`
    const open = (): Pool => createPool(target, mayBePrivate ? undefined : publicLookup, maxConnections)
    return getOrCreate(pools, key, open).send(request, text)
  }
  return {
    send,
    close() {
      fallback.close()
      for (const pool of pools.values()) pool.close()
      pools.clear()
    },
  }
}

interface SocketTarget {
  readonly url: string
  readonly origin: string
  readonly isTls: boolean
  readonly hostname: string
  readonly port: number
  /** The first line and the Host header. */
  readonly start: string
}

let last: SocketTarget | undefined
function targetOf(url: string): SocketTarget {
  if (last?.url === url) return last
  const { protocol, hostname, host, port, pathname, search, origin } = new URL(url)
  const isTls = protocol === 'https:'
  last = {
    ...{ url, origin, isTls, hostname: hostname.replace(/^\[|\]$/g, '') },
    port: Number(port === '' ? (isTls ? 443 : 80) : port),
    start: `POST ${pathname}${search} HTTP/1.1\r\nhost: ${host}\r\n`,
  }
  return last
}

/** Returns the request as text; `undefined` if a header is not plain. */
function requestText({ headers, body = '' }: OutgoingRequest, { start }: SocketTarget): RequestText | undefined {
  let text = start
  for (const name in headers) {
    const line = headerLine(name, headers[name] ?? '')
    if (line === undefined) return undefined
    text += line
  }
  const length = Buffer.byteLength(body)
  // A body with as many bytes as characters is ASCII.
  const encoding = length === body.length ? 'latin1' : 'utf8'
  return { text: `${text}content-length: ${length}\r\n\r\n${body}`, encoding }
}

interface RequestText {
  readonly text: string
  readonly encoding: 'latin1' | 'utf8'
}

/** The last line of each header, because most requests repeat all of them and checking one costs more than a lookup. */
const lastLines = new Map<string, { readonly value: string; readonly line: string }>()
const maxLastLines = 256
/** Headers that the text has already, or that change where the request ends. */
const notPlain = new Set(['content-length', 'host', 'transfer-encoding'])

/** `undefined` if the header needs more than printable ASCII, or must not be beside those of the text. */
function headerLine(name: string, value: string): string | undefined {
  const last = lastLines.get(name)
  if (last?.value === value) return last.line
  if (notPlain.has(name.toLowerCase()) || !/^[\x21-\x7e]+$/.test(name) || !/^[\x20-\x7e\t]*$/.test(value))
    return undefined
  const line = `${name}: ${value}\r\n`
  if (lastLines.size >= maxLastLines) lastLines.clear()
  lastLines.set(name, { value, line })
  return line
}

interface Pool {
  send(request: OutgoingRequest, text: RequestText): HttpExchange
  close(): void
}

/** A socket, and the request that it carries. */
interface PooledSocket {
  readonly socket: Socket
  readonly parser: ResponseParser
  flight: SocketFlight | undefined
  /** The last head, and how long its server keeps the connection. */
  head: ResponseHead | undefined
  keptMs: number
  /** Not used again after this time. */
  idleUntil: number
  isReused: boolean
}

/** One request on its way. */
interface SocketFlight {
  readonly request: OutgoingRequest
  readonly text: RequestText
  /** The request was written, so the server may have it. */
  isSent: boolean
  isAborted: boolean
  on: PooledSocket | undefined
  response: SocketResponse | undefined
  resolve(response: HttpResponse): void
  reject(error: ClientError): void
}

/** All sockets read into it, one after the other. Otherwise Node would make a buffer of 64 KiB for each response. */
const readBuffer = Buffer.allocUnsafeSlow(64 * 1024)

function createPool(target: SocketTarget, lookup: LookupFunction | undefined, maxConnections: number): Pool {
  const idle: PooledSocket[] = []
  const open = new Set<PooledSocket>()
  const waiting: SocketFlight[] = []
  let isClosed = false

  function start(flight: SocketFlight): void {
    for (let pooled = idle.pop(); pooled; pooled = idle.pop()) {
      if (pooled.socket.destroyed || pooled.idleUntil <= performance.now()) {
        pooled.socket.destroy()
        continue
      }
      pooled.isReused = true
      pooled.socket.ref()
      carry(pooled, flight)
      return
    }
    if (open.size >= maxConnections) waiting.push(flight)
    else carry(connected(), flight)
  }

  function carry(pooled: PooledSocket, flight: SocketFlight): void {
    pooled.flight = flight
    flight.on = pooled
    if (!pooled.socket.connecting && pooled.isReused) write(pooled, flight)
  }
  function write({ socket }: PooledSocket, flight: SocketFlight): void {
    flight.isSent = true
    socket.write(flight.text.text, flight.text.encoding)
  }

  function connected(): PooledSocket {
    const { hostname: host, port, isTls } = target
    const onread = { buffer: readBuffer, callback: (size: number) => received(size) }
    const options = { host, port, noDelay: true, onread, ...(lookup && { lookup }) }
    const socket = isTls
      ? connectTls({ ...options, ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }) })
      : connectTcp(options)
    const parser = createResponseParser({
      head: (head) => receiveHead(pooled, head),
      // A copy, because the next read is into the same buffer.
      data: (chunk) => pooled.flight?.response?.push(Buffer.from(chunk)),
      end: (keepAlive) => complete(pooled, keepAlive),
    })
    const pooled: PooledSocket = {
      ...{ socket, parser, flight: undefined, head: undefined, keptMs: 0, idleUntil: 0, isReused: false },
    }
    open.add(pooled)
    socket.on(isTls ? 'secureConnect' : 'connect', () => {
      if (pooled.flight) write(pooled, pooled.flight)
    })
    function received(size: number): boolean {
      // Bytes without a request belong to nothing that was asked.
      if (!pooled.flight) socket.destroy()
      else
        try {
          parser.write(readBuffer.subarray(0, size))
        } catch (thrown) {
          fail(pooled, thrown as Error)
        }
      return true
    }
    socket.on('error', (error) => fail(pooled, error))
    socket.on('close', () => {
      open.delete(pooled)
      if (pooled.flight && !pooled.parser.finish()) fail(pooled, brokeOff())
      const at = idle.indexOf(pooled)
      if (at !== -1) idle.splice(at, 1)
      next()
    })
    return pooled
  }

  function receiveHead(pooled: PooledSocket, head: ResponseHead): void {
    const { flight, socket } = pooled
    if (!flight) return
    if (pooled.head !== head) {
      pooled.head = head
      const hint = /timeout=(\d{1,6})/.exec(head.headers.get('keep-alive') ?? '')?.[1]
      pooled.keptMs = hint === undefined ? defaultIdleMs : Math.min(Number(hint) * 1000 - 1000, maxIdleMs)
    }
    flight.response = new SocketResponse(head, socket)
    flight.resolve(flight.response)
  }

  function complete(pooled: PooledSocket, keepAlive: boolean): void {
    const { flight, socket } = pooled
    pooled.flight = undefined
    flight?.response?.end()
    if (!keepAlive || isClosed || socket.destroyed || pooled.keptMs <= 0) {
      socket.destroy()
      return
    }
    pooled.idleUntil = performance.now() + pooled.keptMs
    pooled.parser.begin()
    const queued = waiting.shift()
    pooled.isReused = true
    // A slow reader of the body may have paused it.
    if (socket.isPaused()) socket.resume()
    if (queued) carry(pooled, queued)
    else {
      socket.unref()
      idle.push(pooled)
    }
  }

  /** Ends the request of a socket, and the socket. A kept connection that was just closed is replaced where that is safe. */
  function fail(pooled: PooledSocket, error: Error): void {
    const { flight, socket, isReused } = pooled
    pooled.flight = undefined
    socket.destroy()
    if (!flight) return
    const { request, response } = flight
    const { isRepeatable = false } = request
    const isLie = error instanceof ClientError && error.reason === 'protocol'
    if (response) response.fail(error instanceof ClientError ? error : brokeOff(error))
    else if (isReused && isRepeatable && !flight.isAborted && !isLie && !isClosed) carry(connected(), flight)
    else flight.reject(error instanceof ClientError ? error : toSendError(error, request.url, flight.isSent))
  }

  function next(): void {
    if (waiting.length === 0 || open.size >= maxConnections || isClosed) return
    const flight = waiting.shift()
    if (flight) carry(connected(), flight)
  }

  return {
    send(request, text) {
      let flight: SocketFlight | undefined
      const response = new Promise<HttpResponse>((resolve, reject) => {
        flight = { request, text, isSent: false, isAborted: false, on: undefined, response: undefined, resolve, reject }
        start(flight)
      })
      return {
        response,
        abort() {
          if (!flight || flight.isAborted) return
          flight.isAborted = true
          const at = waiting.indexOf(flight)
          if (at !== -1) waiting.splice(at, 1)
          if (flight.on?.flight === flight) fail(flight.on, new ClientError('cancelled', 'Cancelled'))
          else flight.reject(new ClientError('cancelled', 'Cancelled', { mayHaveRun: false }))
        },
      }
    },
    close() {
      isClosed = true
      for (const { socket } of [...open]) socket.destroy()
      for (const flight of waiting.splice(0))
        flight.reject(new ClientError('closed', 'The client was closed', { mayHaveRun: false }))
    },
  }
}
