/**
 * HTTP over `node:http` with kept connections: less work per request than `fetch`, and the address a name resolves to is
 * checked where the connection is made, so that a name cannot first resolve to a public and then to a private address.
 */

import { lookup } from 'node:dns'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { ClientError } from '../errors.ts'
import { isPrivateAddress } from '../http/hosts.ts'
import type { HttpExchange, HttpResponse, HttpSender, OutgoingRequest } from '../http/sender.ts'
import { tooLong } from '../http/sender.ts'

/** Options of `createNodeSender`. */
export interface NodeSenderOptions {
  /** Connections per host. Requests beyond it wait. */
  readonly maxConnections?: number
}

/** A sender that keeps connections open until it is closed. */
export interface NodeSender {
  readonly send: HttpSender
  /** Closes the kept connections. */
  close(): void
}

interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/** Creates a sender over `node:http` and `node:https`. */
export function createNodeSender({ maxConnections = 256 }: NodeSenderOptions = {}): NodeSender {
  const settings = { keepAlive: true, maxSockets: maxConnections, maxFreeSockets: 64, scheduling: 'lifo' as const }
  // Apart, so that a request that must not reach a private address does not take a connection that was made to one.
  const named: Agents = { http: new HttpAgent(settings), https: new HttpsAgent(settings) }
  const checkedSettings = { ...settings, lookup: publicLookup }
  const checked: Agents = { http: new HttpAgent(checkedSettings), https: new HttpsAgent(checkedSettings) }
  let isClosed = false
  return {
    send: (request) => exchange(request, request.mayBePrivate ? named : checked, () => isClosed),
    close() {
      isClosed = true
      for (const { http, https } of [named, checked]) {
        http.destroy()
        https.destroy()
      }
    },
  }
}

/** Resolves a name, and refuses it if any of its addresses is private. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 4)
    if (addresses.some(({ address }) => isPrivateAddress(address)))
      return callback(new PrivateAddress(`${hostname} has a private address`), '', 4)
    if (options.all) return callback(null, addresses)
    const [first] = addresses
    callback(first ? null : new Error(`${hostname} has no address`), first?.address ?? '', first?.family ?? 4)
  })
}

class PrivateAddress extends Error {}

interface Target {
  readonly url: string
  readonly isHttps: boolean
  readonly host: RequestOptions
}

/** Nearly all requests of a client go to one address, and parsing it costs as much as building the request. */
let last: Target | undefined
function targetOf(url: string): Target {
  if (last?.url === url) return last
  const { protocol, hostname, port, pathname, search } = new URL(url)
  const host = { hostname: hostname.replace(/^\[|\]$/g, ''), ...(port !== '' && { port }), path: pathname + search }
  last = { url, isHttps: protocol === 'https:', host }
  return last
}

function exchange(request: OutgoingRequest, agents: Agents, isClosed: () => boolean): HttpExchange {
  const { method, url, headers, body, isRepeatable = method !== 'POST' } = request
  const { isHttps, host } = targetOf(url)
  const options: RequestOptions = {
    ...host,
    method,
    headers: body === undefined ? headers : { ...headers, 'content-length': Buffer.byteLength(body) },
    agent: isHttps ? agents.https : agents.http,
  }
  let isAborted = false
  let sent: ClientRequest
  const response = new Promise<HttpResponse>((resolve, reject) => {
    function attempt(isFirst: boolean): void {
      const outgoing = (isHttps ? httpsRequest : httpRequest)(options)
      sent = outgoing
      outgoing.on('response', (incoming) => resolve(toResponse(incoming)))
      outgoing.on('error', (cause: NodeJS.ErrnoException) => {
        // The server closed a kept connection at the moment it was used again.
        const mayRepeat = isRepeatable && !isAborted && !isClosed()
        if (isFirst && mayRepeat && outgoing.reusedSocket && cause.code === 'ECONNRESET') attempt(false)
        else reject(toSendError(cause, url))
      })
      outgoing.end(body)
    }
    attempt(true)
  })
  return {
    response,
    abort() {
      isAborted = true
      sent.destroy()
    },
  }
}

/** Failures of connecting: nothing was sent. */
const unsent = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOENT', 'EINVAL'])

/** Returns the failure of a request. `isSent` is false if the server certainly got nothing of it. */
export function toSendError(cause: Error, url: string, isSent = true): ClientError {
  if (cause instanceof PrivateAddress)
    return new ClientError('refusedAddress', `Not requested: ${cause.message}`, { mayHaveRun: false, cause })
  const { code = '' } = cause as NodeJS.ErrnoException
  return new ClientError('unreachable', `${url} cannot be reached${code === '' ? '' : ` (${code})`}`, {
    mayHaveRun: isSent && !unsent.has(code),
    cause,
  })
}

/** The failure of a response that is cut off. */
export const brokeOff = (cause?: unknown): ClientError =>
  new ClientError('closed', 'The connection ended before the response was complete', { cause })

/** A rest that is shorter is read, so that the connection can be used again. */
const maxRestBytes = 64 * 1024
const maxRestMs = 1000

function toResponse(incoming: IncomingMessage): HttpResponse {
  async function* chunks(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      for await (const chunk of incoming.iterator({ destroyOnReturn: false })) yield chunk as Buffer
    } catch (cause) {
      throw brokeOff(cause)
    }
    if (!incoming.complete) throw brokeOff()
  }
  function discard(): void {
    incoming.on('error', () => {})
    if (incoming.readableEnded || incoming.destroyed) return
    let size = 0
    const timer = setTimeout(() => incoming.destroy(), maxRestMs)
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxRestBytes) incoming.destroy()
    })
    incoming.on('close', () => clearTimeout(timer))
    incoming.resume()
  }
  /** Without an iterator: most answers are one chunk. */
  function text(maxBytes: number): Promise<string> {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) {
      incoming.destroy()
      return Promise.reject(tooLong(maxBytes))
    }
    return new Promise((resolve, reject) => {
      const held: Buffer[] = []
      let size = 0
      incoming.on('data', (chunk: Buffer) => {
        held.push(chunk)
        size += chunk.length
        if (size <= maxBytes) return
        reject(tooLong(maxBytes))
        incoming.destroy()
      })
      incoming.on('end', () => {
        const [only] = held
        resolve((held.length === 1 && only ? only : Buffer.concat(held)).toString('utf8'))
      })
      incoming.on('error', (cause) => reject(brokeOff(cause)))
      incoming.on('close', () => {
        if (!incoming.complete) reject(brokeOff())
      })
    })
  }
  return {
    status: incoming.statusCode ?? 0,
    header: (name) => {
      const value = incoming.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    text,
    chunks,
    discard,
  }
}
