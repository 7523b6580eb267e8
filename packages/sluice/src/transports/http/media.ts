/** The media types of a request: Content-Type and Content-Encoding of its body, and what it accepts. */

import { RpcError } from '../../core/error.ts'

/** Checks the media type without case and parameters, because a byte-by-byte comparison could be bypassed. */
export function checkContentType(type: string | undefined): void {
  if (type === 'application/json') return
  const [media = '', ...parameters] = (type ?? '').toLowerCase().split(';')
  const charset = parameters.map((parameter) => parameter.trim()).find((parameter) => parameter.startsWith('charset='))
  const isUtf8 = charset === undefined || charset.replaceAll('"', '') === 'charset=utf-8'
  // A page can send text/plain and forms to any origin without a preflight. A comma means two joined headers.
  if (media.trim() !== 'application/json' || !isUtf8 || type?.includes(','))
    throw new RpcError('unsupportedMedia', 'Content-Type must be sent once, as application/json in UTF-8')
}

/** Refuses compressed requests, because 158 bytes of brotli can hold 100 MB. */
export function checkEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity')
    throw new RpcError('unsupportedMedia', 'Content-Encoding is not accepted: send the body uncompressed')
}

export interface Accepts {
  readonly json: boolean
  readonly events: boolean
}

const acceptsBoth: Accepts = { json: true, events: true }

export function parseAccept(accept: string | undefined): Accepts {
  if (accept === undefined || accept === 'application/json, text/event-stream') return acceptsBoth
  const types = accept
    .toLowerCase()
    .split(',')
    .map((type) => type.split(';')[0]?.trim())
  const any = types.includes('*/*')
  const accepts = {
    json: any || types.includes('application/json') || types.includes('application/*'),
    events: any || types.includes('text/event-stream') || types.includes('text/*'),
  }
  if (!accepts.json && !accepts.events)
    throw new RpcError('notAcceptable', 'Accept must allow application/json or text/event-stream')
  return accepts
}
