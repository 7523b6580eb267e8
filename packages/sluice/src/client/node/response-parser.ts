/**
 * Parses the responses of HTTP/1.1 on one connection. It is strict where two readings are possible, because a response
 * that ends elsewhere than the server thinks would answer the next request.
 *
 * https://www.rfc-editor.org/rfc/rfc9112
 */

import { ClientError } from '../errors.ts'

export interface ResponseHead {
  readonly status: number
  /** By lower-case name. Values of a repeated header are joined. */
  readonly headers: ReadonlyMap<string, string>
}

/** Receives the parts of a response as they arrive. */
export interface ResponseParts {
  head(head: ResponseHead): void
  data(chunk: Buffer): void
  /** `keepAlive`: the connection can carry another request. */
  end(keepAlive: boolean): void
}

export interface ResponseParser {
  /** Takes the next bytes. Throws a `ClientError` if they are not a response. */
  write(chunk: Buffer): void
  /** The connection ended. Returns whether that is a complete response. */
  finish(): boolean
}

const maxHeadBytes = 64 * 1024
/** Longer lines hold extensions that no server needs. */
const maxLineBytes = 1024

type State = 'head' | 'length' | 'close' | 'size' | 'chunk' | 'chunkEnd' | 'trailers' | 'done'

const broken = (problem: string): ClientError =>
  new ClientError('protocol', `The server sent a response that is not HTTP: ${problem}`)

export function createResponseParser(parts: ResponseParts): ResponseParser {
  let state: State = 'head'
  let held: Buffer | undefined
  let remaining = 0
  let keepAlive = true

  /** Returns the index of the first byte after `mark`, or −1 and keeps what there is. */
  function ended(chunk: Buffer, mark: string, maxBytes: number): number {
    const at = chunk.indexOf(mark, 0, 'latin1')
    if (at === -1 ? chunk.length > maxBytes : at > maxBytes) throw broken('a line or head is too long')
    if (at !== -1) return at + mark.length
    held = chunk
    return -1
  }

  function done(): void {
    state = 'done'
    parts.end(keepAlive)
  }

  function readHead(text: string): void {
    const { status, isOld, headers } = parseHead(text)
    if (status < 200) {
      if (status === 101) throw broken('an upgrade that was not requested')
      return
    }
    const coding = headers.get('transfer-encoding')
    const length = headers.get('content-length')
    const connection = headers.get('connection')?.toLowerCase() ?? ''
    keepAlive = isOld ? connection === 'keep-alive' : !connection.split(',').some((word) => word.trim() === 'close')
    if (coding !== undefined) {
      if (coding.toLowerCase() !== 'chunked' || length !== undefined) throw broken('its length is ambiguous')
      state = 'size'
    } else if (status === 204 || status === 304) state = 'done'
    else if (length !== undefined) {
      if (!/^\d{1,15}$/.test(length)) throw broken('its length is invalid')
      remaining = Number(length)
      state = remaining > 0 ? 'length' : 'done'
    } else {
      keepAlive = false
      state = 'close'
    }
    const isEmpty = state === 'done'
    parts.head({ status, headers })
    if (isEmpty) done()
  }

  /** Takes as much of the chunk as the state needs, and returns the rest. */
  function step(chunk: Buffer): Buffer | undefined {
    if (state === 'head') {
      const end = ended(chunk, '\r\n\r\n', maxHeadBytes)
      if (end === -1) return undefined
      readHead(chunk.toString('latin1', 0, end - 4))
      return chunk.subarray(end)
    }
    if (state === 'length' || state === 'chunk') {
      const taken = chunk.length > remaining ? chunk.subarray(0, remaining) : chunk
      remaining -= taken.length
      const isLast = remaining === 0
      parts.data(taken)
      if (isLast && state === 'length') done()
      else if (isLast) state = 'chunkEnd'
      return chunk.subarray(taken.length)
    }
    if (state === 'close') {
      parts.data(chunk)
      return undefined
    }
    if (state === 'done') throw broken('more bytes than announced')
    const end = ended(chunk, '\r\n', maxLineBytes)
    if (end === -1) return undefined
    const line = chunk.toString('latin1', 0, end - 2)
    if (state === 'chunkEnd') {
      if (line !== '') throw broken('a chunk is longer than announced')
      state = 'size'
    } else if (state === 'size') {
      const size = /^([0-9a-f]{1,8})[ \t]*(;.*)?$/i.exec(line)?.[1]
      if (size === undefined) throw broken('the size of a chunk is invalid')
      remaining = Number.parseInt(size, 16)
      state = remaining === 0 ? 'trailers' : 'chunk'
    } else if (line === '') done()
    return chunk.subarray(end)
  }

  return {
    write(chunk) {
      let rest: Buffer | undefined = held ? Buffer.concat([held, chunk]) : chunk
      held = undefined
      while (rest !== undefined && rest.length > 0) rest = step(rest)
    },
    finish() {
      if (state === 'close') {
        done()
        return true
      }
      return state === 'done'
    },
  }
}

function parseHead(text: string): ResponseHead & { readonly isOld: boolean } {
  const lines = text.split('\r\n')
  const first = /^HTTP\/1\.([01]) (\d{3})(?: |$)/.exec(lines[0] ?? '')
  if (!first) throw broken('its first line is invalid')
  const headers = new Map<string, string>()
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // A line that begins with a space would belong to the header before it.
    if (colon <= 0 || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name)) throw broken('a header is invalid')
    const value = line.slice(colon + 1).trim()
    const before = headers.get(name)
    if (before !== undefined && (name === 'content-length' || name === 'transfer-encoding') && before !== value)
      throw broken('its length is ambiguous')
    headers.set(name, before === undefined || name === 'content-length' ? value : `${before}, ${value}`)
  }
  return { status: Number(first[2]), isOld: first[1] === '0', headers }
}
