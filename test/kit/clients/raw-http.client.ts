/** HTTP on a raw socket: sends what no proper client would, pipelines, and reads answers in order. */

import type { Socket } from 'node:net'
import { connect } from 'node:net'

export interface RawResponse {
  readonly status: number
  /** Keys are lower-case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export type Headers = { readonly [name: string]: string } | readonly (readonly [name: string, value: string])[]

export interface RawHttp {
  readonly socket: Socket
  readonly port: number
  /** Writes raw bytes. */
  write(bytes: string | Buffer): void
  /** Returns the next response in order; rejects if the connection ends before it. */
  next(): Promise<RawResponse>
  /** Sends a whole POST and returns its response. */
  post(body: string | Buffer, headers?: Headers): Promise<RawResponse>
  /** Resolves when the server has closed the connection, in whatever form. */
  readonly closed: Promise<void>
  /** Everything received after the last complete response. */
  readonly partial: string
  /** The same as bytes. */
  readonly bytes: Buffer
  /** Resolves when `partial` matches. */
  seen(pattern: RegExp): Promise<string>
  /** Closes our end at once. */
  destroy(): void
}

export interface RequestLine {
  readonly method?: string
  readonly path?: string
  readonly version?: string
}

/** The text of a request with exactly these headers. */
export const requestHead = (
  headers: Headers,
  { method = 'POST', path = '/mcp', version = 'HTTP/1.1' }: RequestLine = {},
): string => {
  const lines = Array.isArray(headers) ? headers : Object.entries(headers)
  return `${method} ${path} ${version}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}

/** A POST as a proper client sends it, with `headers` on top. */
export function toPost(port: number, body: string | Buffer, headers: Headers = {}, path = '/mcp'): Buffer {
  const bytes = Buffer.from(body)
  const more = Array.isArray(headers) ? headers : Object.entries(headers)
  const lines: Headers = [
    ['host', `127.0.0.1:${port}`],
    ['content-type', 'application/json'],
    ['content-length', String(bytes.length)],
    ...more,
  ]
  const head = requestHead(lines, { path })
  return Buffer.concat([Buffer.from(head, 'latin1'), bytes])
}

export async function rawHttp(port: number, host = '127.0.0.1'): Promise<RawHttp> {
  const socket = connect({ port, host, noDelay: true })
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  let received: Buffer = Buffer.alloc(0)
  let ended = false
  const ready: RawResponse[] = []
  const waiting: { resolve(response: RawResponse): void; reject(error: Error): void }[] = []
  const watching = new Set<() => void>()
  let finish = (): void => {}
  const closed = new Promise<void>((resolve) => {
    finish = resolve
  })
  const give = (response: RawResponse): void => {
    const first = waiting.shift()
    if (first) first.resolve(response)
    else ready.push(response)
  }
  const drain = (): void => {
    for (let parsed = parseResponse(received, ended); parsed; parsed = parseResponse(received, ended)) {
      received = received.subarray(parsed.length)
      give(parsed.response)
    }
    for (const check of [...watching]) check()
  }
  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    drain()
  })
  const over = (): void => {
    if (ended) return
    ended = true
    drain()
    for (const { reject } of waiting.splice(0)) reject(new Error('The server closed the connection'))
    finish()
  }
  socket.on('end', over)
  socket.on('close', over)
  socket.on('error', over)
  const http: RawHttp = {
    socket,
    port,
    write: (bytes) => {
      socket.write(bytes)
    },
    next() {
      const first = ready.shift()
      if (first) return Promise.resolve(first)
      if (ended) return Promise.reject(new Error('The server closed the connection'))
      return new Promise((resolve, reject) => waiting.push({ resolve, reject }))
    },
    post(body, headers) {
      socket.write(toPost(port, body, headers))
      return http.next()
    },
    closed,
    get partial() {
      return received.toString('utf8')
    },
    get bytes() {
      return received
    },
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const text = received.toString('utf8')
          if (pattern.test(text)) resolve(text)
          else if (ended) reject(new Error(`The server closed the connection before ${pattern}`))
          else return
          watching.delete(check)
        }
        watching.add(check)
        check()
      }),
    destroy: () => {
      socket.destroy()
    },
  }
  return http
}

function parseResponse(
  bytes: Buffer,
  ended: boolean,
): { readonly response: RawResponse; readonly length: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(first.split(' ')[1])
  const headers = new Map(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const from = headEnd + 4
  const done = (body: string, length: number): { response: RawResponse; length: number } => ({
    response: { status, headers, body },
    length,
  })
  if (status < 200 || status === 204 || status === 304) return done('', from)
  if (headers.get('transfer-encoding') === 'chunked') {
    const parts: Buffer[] = []
    for (let at = from; ; ) {
      const lineEnd = bytes.indexOf('\r\n', at)
      if (lineEnd === -1) return undefined
      const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
      const next = lineEnd + 2 + size + 2
      if (bytes.length < next) return undefined
      if (size === 0) return done(Buffer.concat(parts).toString('utf8'), next)
      parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
      at = next
    }
  }
  const length = headers.get('content-length')
  if (length === undefined) return ended ? done(bytes.toString('utf8', from), bytes.length) : undefined
  const end = from + Number(length)
  return bytes.length < end ? undefined : done(bytes.toString('utf8', from, end), end)
}
