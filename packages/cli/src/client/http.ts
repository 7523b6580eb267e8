/** A Streamable HTTP client for both eras: one POST per message, the response as JSON or as an event stream. */

import type { Message } from './message.ts'
import { isObject, modern } from './message.ts'
import type { ClientTransport } from './transport.ts'

export interface HttpTarget {
  readonly url: string
  readonly headers: { readonly [name: string]: string }
}

/** An HTTP error status without a JSON-RPC response, with the challenge of the server. */
export class HttpStatusError extends Error {
  override readonly name = 'HttpStatusError'
  readonly status: number
  readonly challenge: string | undefined
  constructor(status: number, body: string, challenge: string | undefined) {
    const text = `HTTP ${status}${body === '' ? '' : `: ${body.slice(0, 200)}`}`
    const hint = challenge === undefined ? '' : `\nIts challenge: ${challenge}`
    super(status === 401 ? `The server requires a credential. Give one with --token or SLUICE_TOKEN.${hint}` : text)
    this.status = status
    this.challenge = challenge
  }
}

export function httpTransport({ url, headers }: HttpTarget): ClientTransport {
  let session: string | undefined
  let version: string | undefined
  const common = (message: Message): Record<string, string> => ({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
    ...(session !== undefined && { 'mcp-session-id': session }),
    ...(version !== undefined && { 'mcp-protocol-version': version }),
    ...(version === modern && modernHeaders(message)),
  })
  return {
    setRevision(revision) {
      version = revision
    },
    async exchange(message, onMessage, signal) {
      const response = await fetch(url, {
        method: 'POST',
        headers: common(message),
        body: JSON.stringify(message),
        ...(signal && { signal }),
      })
      session = response.headers.get('mcp-session-id') ?? session
      const type = response.headers.get('content-type') ?? ''
      // The credential was refused. Only the header says where to get one, so the body is not parsed as a response.
      if (response.status === 401 || response.status === 403) throw await statusError(response)
      if (type.startsWith('text/event-stream')) return readEvents(response, message, onMessage)
      const text = await response.text()
      const parsed = text === '' ? undefined : parse(text)
      if (parsed) return parsed
      if (response.status === 202 && message.id === undefined) return undefined
      throw new HttpStatusError(response.status, text, undefined)
    },
    async close() {
      if (session === undefined) return
      await fetch(url, { method: 'DELETE', headers: { ...headers, 'mcp-session-id': session } }).catch(() => {})
    },
  }
}

async function statusError(response: Response): Promise<HttpStatusError> {
  const text = await response.text()
  const message = parse(text)?.error?.message
  return new HttpStatusError(response.status, message ?? text, response.headers.get('www-authenticate') ?? undefined)
}

/** Repeats the method and the name in headers, which 2026-07-28 requires so that proxies need not read the body. */
function modernHeaders({ method = '', params = {} }: Message): Record<string, string> {
  const name = method === 'resources/read' ? params['uri'] : params['name']
  const isNamed = ['tools/call', 'prompts/get', 'resources/read'].includes(method) && typeof name === 'string'
  return { 'mcp-method': method, ...(isNamed && { 'mcp-name': headerText(name) }) }
}

const headerText = (text: string): string =>
  /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`

const isResponse = (value: unknown): value is Message => isObject(value) && ('result' in value || 'error' in value)

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isResponse(value) ? value : undefined
  } catch {
    return undefined
  }
}

async function readEvents(
  response: Response,
  { id }: Message,
  onMessage: (message: Message) => void,
): Promise<Message | undefined> {
  let rest = ''
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    rest += chunk
    for (let end = eventEnd(rest); end; end = eventEnd(rest)) {
      const data = rest
        .slice(0, end.at)
        .split(/\r?\n/)
        .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []))
        .join('\n')
      rest = rest.slice(end.next)
      if (data === '') continue
      const message = JSON.parse(data) as Message
      if (message.method === undefined && message.id === id) {
        await response.body?.cancel().catch(() => {})
        return message
      }
      onMessage(message)
    }
  }
  return undefined
}

function eventEnd(text: string): { readonly at: number; readonly next: number } | undefined {
  const found = /\r?\n\r?\n/.exec(text)
  return found ? { at: found.index, next: found.index + found[0].length } : undefined
}
