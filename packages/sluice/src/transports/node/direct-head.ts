/**
 * Parses the head of a plain POST: what nearly every client sends for nearly every call. The parser accepts less than
 * HTTP allows. What it does not accept is left to `node:http`, so no rule of HTTP is decided here twice.
 */

/** The head of a request, as `node:http` would read it. */
export interface DirectHead {
  /** The path and the query, as the client sent them. */
  readonly url: string
  /** The headers by their names in lower case. Each was sent once. */
  readonly headers: ReadonlyMap<string, string>
  readonly bodyBytes: number
}

const requestLine = /POST (\/[\x21-\x7e]*) HTTP\/1\.1\r\n/y
/** The value begins with no space. Otherwise a line of spaces that does not match would be tried in all divisions. */
const headerLine = /([\w!#$%&'*+.^`|~-]+):[ \t]*((?:[\x21-\x7e][\x20-\x7e]*)?)\r\n/y
/** Longer bodies arrive in several pieces, which `node:http` reads. */
const bodyLength = /^\d{1,5}$/
/** Headers that change how the message or its connection is read. */
const notPlain = new Set(['expect', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** Parses a head up to and including its empty line. `undefined` if it is not a plain POST. */
export function parseDirectHead(head: string): DirectHead | undefined {
  requestLine.lastIndex = 0
  const url = requestLine.exec(head)?.[1]
  if (url === undefined) return undefined
  const headers = new Map<string, string>()
  let at = requestLine.lastIndex
  // The empty line is left.
  while (at < head.length - 2) {
    headerLine.lastIndex = at
    const [line, field = '', value = ''] = headerLine.exec(head) ?? []
    if (line === undefined) return undefined
    const name = field.toLowerCase()
    // Which of two headers counts is a question of their names.
    if (headers.has(name) || notPlain.has(name)) return undefined
    headers.set(name, value.trimEnd())
    at += line.length
  }
  const connection = headers.get('connection')
  if (connection !== undefined && connection.toLowerCase() !== 'keep-alive') return undefined
  const length = headers.get('content-length')
  if (length === undefined || !bodyLength.test(length) || !headers.has('host')) return undefined
  return { url, headers, bodyBytes: Number(length) }
}
