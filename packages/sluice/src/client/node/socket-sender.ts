/**
 * Sends requests over its own sockets, one request at a time on each. `node:http`'s client spends more per request
 * than all layers of a server together, and a gateway sends one request per call. What this sender does not know (other
 * methods than POST, headers outside ASCII) goes to the sender over `node:http`.
 */

import type { LookupFunction, Socket } from 'node:net'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { ClientError } from '../errors.ts'
import type { HttpExchange, HttpResponse, HttpSender, OutgoingRequest } from '../http/sender.ts'
import { readText, tooLong } from '../http/sender.ts'
import type { ResponseHead, ResponseParser, ResponseParts } from './response-parser.ts'
import { createResponseParser } from './response-parser.ts'
import { createNodeSender, type NodeSender, publicLookup, toSendError } from './sender.ts'

export interface SocketSenderOptions {
  /** Connections per host. Requests beyond it wait. */
  readonly maxConnections?: number
}

/** A server that says nothing about it may close an idle connection soon, and then the next request would be in doubt. */
const defaultIdleMs = 4000
const maxIdleMs = 60_000
/** Bytes of a response that are held for a slow reader before reading stops. */
const maxHeldBytes = 256 * 1024

/** Creates a sender over sockets. Close it to end the connections. */
export function createSocketSender({ maxConnections = 256 }: SocketSenderOptions = {}): NodeSender {
  const fallback = createNodeSender({ maxConnections })
  const pools = new Map<string, Pool>()
  const send: HttpSender = (request) => {
    const target = targetOf(request.url)
    const text = request.method === 'POST' ? requestText(request, target) : undefined
    if (text === undefined) return fallback.send(request)
    const mayBePrivate = request.mayBePrivate === true
    // Apart, so that a request that must not reach a private address does not take a connection that was made to one.
    const key = `${mayBePrivate} ${target.origin}`
    let pool = pools.get(key)
    if (!pool) {
      pool = createPool(target, mayBePrivate ? undefined : publicLookup, maxConnections)
      pools.set(key, pool)
    }
    return pool.send(request, text)
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

/** Returns the request as text; `undefined` if a header needs more than printable ASCII. */
function requestText({ headers, body = '' }: OutgoingRequest, { start }: SocketTarget): string | undefined {
  let text = start
  for (const name in headers) {
    const value = headers[name] ?? ''
    if (!/^[\x21-\x7e]+$/.test(name) || !/^[\x20-\x7e\t]*$/.test(value)) return undefined
    text += `${name}: ${value}\r\n`
  }
  return `${text}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

interface Pool {
  send(request: OutgoingRequest, text: string): HttpExchange
  close(): void
}

/** A socket, and the request that it carries. */
interface PooledSocket {
  readonly socket: Socket
  flight: SocketFlight | undefined
  /** One per response, so that bytes after its end cannot become the next one. */
  parser: ResponseParser
  newParser(): ResponseParser
  /** Not used again after this time. */
  idleUntil: number
  isReused: boolean
}

/** One request on its way. */
interface SocketFlight {
  readonly request: OutgoingRequest
  readonly text: string
  /** The request was written, so the server may have it. */
  isSent: boolean
  isAborted: boolean
  on: PooledSocket | undefined
  body: Body | undefined
  resolve(response: HttpResponse): void
  reject(error: ClientError): void
}

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
    socket.write(flight.text)
  }

  function connected(): PooledSocket {
    const { hostname: host, port, isTls } = target
    const options = { host, port, noDelay: true, ...(lookup && { lookup }) }
    const socket = isTls
      ? connectTls({ ...options, ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }) })
      : connectTcp(options)
    const parts: ResponseParts = {
      head: (head) => receiveHead(pooled, head),
      data: (chunk) => pooled.flight?.body?.push(chunk),
      end: (keepAlive) => complete(pooled, keepAlive),
    }
    const newParser = (): ResponseParser => createResponseParser(parts)
    const pooled: PooledSocket = {
      ...{ socket, flight: undefined, idleUntil: 0, isReused: false, newParser, parser: newParser() },
    }
    open.add(pooled)
    socket.on(isTls ? 'secureConnect' : 'connect', () => {
      if (pooled.flight) write(pooled, pooled.flight)
    })
    socket.on('data', (chunk: Buffer) => {
      // Bytes without a request belong to nothing that was asked.
      if (!pooled.flight) return socket.destroy()
      try {
        pooled.parser.write(chunk)
      } catch (thrown) {
        fail(pooled, thrown as Error)
      }
    })
    socket.on('error', (error) => fail(pooled, error))
    socket.on('close', () => {
      open.delete(pooled)
      if (pooled.flight && !pooled.parser.finish()) fail(pooled, closedEarly())
      const at = idle.indexOf(pooled)
      if (at !== -1) idle.splice(at, 1)
      next()
    })
    return pooled
  }

  function receiveHead(pooled: PooledSocket, head: ResponseHead): void {
    const { flight, socket } = pooled
    if (!flight) return
    const hint = /timeout=(\d{1,6})/.exec(head.headers.get('keep-alive') ?? '')?.[1]
    pooled.idleUntil = hint === undefined ? defaultIdleMs : Math.min(Number(hint) * 1000 - 1000, maxIdleMs)
    flight.body = createBody(socket)
    flight.resolve(toResponse(head, flight.body))
  }

  function complete(pooled: PooledSocket, keepAlive: boolean): void {
    const { flight, socket } = pooled
    pooled.flight = undefined
    flight?.body?.end()
    if (!keepAlive || isClosed || socket.destroyed || pooled.idleUntil <= 0) {
      socket.destroy()
      return
    }
    pooled.idleUntil += performance.now()
    pooled.parser = pooled.newParser()
    const queued = waiting.shift()
    pooled.isReused = true
    // A slow reader of the body may have paused it.
    socket.resume()
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
    const { request, body } = flight
    const { isRepeatable = false } = request
    const isLie = error instanceof ClientError && error.reason === 'protocol'
    if (body) body.fail(error instanceof ClientError ? error : closedEarly(error))
    else if (isReused && isRepeatable && !flight.isAborted && !isLie) carry(connected(), flight)
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
        flight = { request, text, isSent: false, isAborted: false, on: undefined, body: undefined, resolve, reject }
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

const closedEarly = (cause?: unknown): ClientError =>
  new ClientError('closed', 'The connection ended before the response was complete', { cause })

/** The body of a response between the socket and its reader. */
interface Body {
  push(chunk: Buffer): void
  end(): void
  fail(error: ClientError): void
  text(maxBytes: number): Promise<string>
  chunks(): AsyncGenerator<Uint8Array, void, undefined>
  discard(): void
}

function createBody(socket: Socket): Body {
  let held: Buffer[] = []
  let heldBytes = 0
  let state: 'open' | 'ended' | 'discarded' = 'open'
  let error: ClientError | undefined
  let wake: (() => void) | undefined
  const changed = (): void => {
    wake?.()
    wake = undefined
  }
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for (;;) {
        const taken = held
        held = []
        heldBytes = 0
        for (const chunk of taken) yield chunk
        if (held.length > 0) continue
        if (error) throw error
        if (state === 'ended') return
        socket.resume()
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    } finally {
      discard()
    }
  }
  /** A response that is not read to its end takes its connection with it. */
  function discard(): void {
    held = []
    if (state === 'open') socket.destroy()
    if (state !== 'ended') state = 'discarded'
  }
  return {
    push(chunk) {
      if (state !== 'open') return
      held.push(chunk)
      heldBytes += chunk.length
      if (heldBytes > maxHeldBytes && !wake) socket.pause()
      changed()
    },
    end() {
      if (state === 'open') state = 'ended'
      changed()
    },
    fail(reason) {
      error = reason
      changed()
    },
    chunks,
    discard,
    /** Most bodies are complete when they are read, in one chunk. */
    text(maxBytes) {
      if (state !== 'ended' || error) return readText(chunks(), maxBytes)
      const [only] = held
      const whole = held.length === 1 && only ? only : Buffer.concat(held)
      held = []
      return whole.length > maxBytes ? Promise.reject(tooLong(maxBytes)) : Promise.resolve(whole.toString('utf8'))
    },
  }
}

const toResponse = ({ status, headers }: ResponseHead, body: Body): HttpResponse => ({
  status,
  header: (name) => headers.get(name),
  text(maxBytes) {
    if (Number(headers.get('content-length') ?? 0) <= maxBytes) return body.text(maxBytes)
    body.discard()
    return Promise.reject(tooLong(maxBytes))
  },
  chunks: () => body.chunks(),
  discard: () => body.discard(),
})
