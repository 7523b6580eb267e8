/** HTTP as the loads write and read it, on raw sockets. */

export interface Post {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}

/**
 * Returns whether a response is complete: its declared length, or the last chunk, has arrived. One at a time per
 * socket.
 */
export function isComplete(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd < 0) return false
  const length = /\r\ncontent-length: *(\d+)/i.exec(text)
  return length ? text.length >= headEnd + 4 + Number(length[1]) : text.endsWith('0\r\n\r\n')
}

export function requestText({ url, headers, body }: Post): string {
  const { pathname, host } = new URL(url)
  const lines = Object.entries({ host, ...headers, 'content-length': String(Buffer.byteLength(body)) })
  return `POST ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}
