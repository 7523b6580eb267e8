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
  /** Begins the response to the next request. */
  begin(): void
  /** Takes the next bytes, and keeps none of them. Throws a `ClientError` if they are not a response. */
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
  /** The current bytes are a copy already. */
  let isJoined = false
  let remaining = 0
  let keepAlive = true
  /** The last head and its bytes, because a server repeats it in most responses of one second. */
  let lastBytes: Buffer | undefined
  let lastHead: ParsedHead | undefined
  const isDone = (): boolean => state === 'done'

  /** Returns the index of the first byte after `mark`, or −1 and keeps what there is. */
  function ended(chunk: Buffer, from: number, mark: Buffer, maxBytes: number): number {
    const at = chunk.indexOf(mark, from)
    if ((at === -1 ? chunk.length : at) - from > maxBytes) throw broken('a line or head is too long')
    if (at !== -1) return at + mark.length
    held = isJoined ? chunk.subarray(from) : Buffer.from(chunk.subarray(from))
    return -1
  }

  /** Reads a head, and returns the index of the first byte after it, or −1 if more bytes are needed. */
  function stepHead(chunk: Buffer, from: number): number {
    if (lastHead && lastBytes && startsWith(chunk, lastBytes, from)) {
      readHead(lastHead)
      return from + lastBytes.length
    }
    const end = ended(chunk, from, endOfHead, maxHeadBytes)
    if (end === -1) return end
    lastHead = parseHead(chunk.toString('latin1', from, end - endOfHead.length))
    lastBytes = Buffer.from(chunk.subarray(from, end))
    readHead(lastHead)
    return end
  }

  function readHead(head: ParsedHead): void {
    const { status, body } = head
    if (status < 200) {
      if (status === 101) throw broken('an upgrade that was not requested')
      return
    }
    state = body === 'length' && head.length === 0 ? 'done' : body
    remaining = head.length
    keepAlive = head.keepAlive
    parts.head(head)
  }

  /** Takes as much of the chunk as the state needs. Returns the index of the rest, or −1 if more bytes are needed. */
  function step(chunk: Buffer, from: number): number {
    if (state === 'head') return stepHead(chunk, from)
    if (state === 'length' || state === 'chunk') {
      const end = Math.min(chunk.length, from + remaining)
      remaining -= end - from
      parts.data(chunk.subarray(from, end))
      if (remaining === 0) state = state === 'length' ? 'done' : 'chunkEnd'
      return end
    }
    if (state === 'close') {
      parts.data(chunk.subarray(from))
      return chunk.length
    }
    const end = ended(chunk, from, endOfLine, maxLineBytes)
    if (end !== -1) readLine(chunk.toString('latin1', from, end - 2))
    return end
  }

  /** Reads a line between the chunks of a body. */
  function readLine(line: string): void {
    if (state === 'chunkEnd') {
      if (line !== '') throw broken('a chunk is longer than announced')
      state = 'size'
    } else if (state === 'size') {
      const size = /^([0-9a-f]{1,8})[ \t]*(;.*)?$/i.exec(line)?.[1]
      if (size === undefined) throw broken('the size of a chunk is invalid')
      remaining = Number.parseInt(size, 16)
      state = remaining === 0 ? 'trailers' : 'chunk'
    } else if (line === '') state = 'done'
  }

  return {
    begin() {
      state = 'head'
    },
    write(chunk) {
      isJoined = held !== undefined
      const bytes = held ? Buffer.concat([held, chunk]) : chunk
      held = undefined
      let at = 0
      while (at !== -1 && at < bytes.length) {
        if (isDone()) throw broken('more bytes than announced')
        at = step(bytes, at)
        if (!isDone()) continue
        // Bytes after a response must not become the next one.
        parts.end(keepAlive && at === bytes.length)
        if (at < bytes.length) throw broken('more bytes than announced')
        return
      }
    },
    finish() {
      if (state === 'close') {
        state = 'done'
        parts.end(false)
      }
      return isDone()
    },
  }
}

const startsWith = (chunk: Buffer, bytes: Buffer, from: number): boolean =>
  chunk.length - from >= bytes.length && bytes.compare(chunk, from, from + bytes.length) === 0

const endOfHead = Buffer.from('\r\n\r\n')
const endOfLine = Buffer.from('\r\n')

/** A head, and how the body after it ends. */
interface ParsedHead extends ResponseHead {
  readonly body: 'length' | 'size' | 'close'
  readonly length: number
  readonly keepAlive: boolean
}

function parseHead(text: string): ParsedHead {
  const { status, isOld, headers } = parseLines(text)
  const coding = headers.get('transfer-encoding')
  const length = headers.get('content-length')
  const connection = headers.get('connection')?.toLowerCase() ?? ''
  const keepAlive = isOld ? connection === 'keep-alive' : !connection.split(',').some((word) => word.trim() === 'close')
  const head = { status, headers, keepAlive, length: 0 }
  // The length of an interim response means nothing.
  if (status < 200) return { ...head, body: 'length' }
  // They end with their head. A body that is announced anyway must not be taken for the next response.
  if (status === 204 || status === 304) {
    const isBodyAnnounced = coding !== undefined || Number(length ?? 0) !== 0
    return { ...head, body: 'length', keepAlive: keepAlive && !isBodyAnnounced }
  }
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked' || length !== undefined) throw broken('its length is ambiguous')
    return { ...head, body: 'size' }
  }
  if (length === undefined) return { ...head, body: 'close', keepAlive: false }
  if (!/^\d{1,15}$/.test(length)) throw broken('its length is invalid')
  return { ...head, body: 'length', length: Number(length) }
}

/** A lone CR or LF would end the line for a lenient reader. */
const unsafeInHead = /[^\t\x20-\x7e\x80-\xff]/

function parseLines(text: string): ResponseHead & { readonly isOld: boolean } {
  const lines = text.split('\r\n')
  const first = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(lines[0] ?? '')
  if (!first || unsafeInHead.test(lines[0] ?? '')) throw broken('its first line is invalid')
  const headers = new Map<string, string>()
  for (let i = 1; i < lines.length; i++) {
    const line = lines[i] ?? ''
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).toLowerCase()
    // A line that begins with a space would belong to the header before it.
    if (colon <= 0 || !/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || unsafeInHead.test(line))
      throw broken('a header is invalid')
    const value = withoutPadding(line.slice(colon + 1))
    const before = headers.get(name)
    if (before !== undefined && (name === 'content-length' || name === 'transfer-encoding') && before !== value)
      throw broken('its length is ambiguous')
    headers.set(name, before === undefined || name === 'content-length' ? value : `${before}, ${value}`)
  }
  return { status: Number(first[2]), isOld: first[1] === '0', headers }
}

/** Removes spaces and tabs. `trim` would also remove other characters, which make a length invalid. */
function withoutPadding(value: string): string {
  const isPadding = (at: number): boolean => value[at] === ' ' || value[at] === '\t'
  let [from, to] = [0, value.length]
  while (from < to && isPadding(from)) from++
  while (from < to && isPadding(to - 1)) to--
  return value.slice(from, to)
}
