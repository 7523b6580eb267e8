/** WebSocket frames on a raw socket, which no proper client would send. */

import type { RawHttp, RawResponse } from './raw-http.client.ts'
import { rawHttp, requestHead } from './raw-http.client.ts'

export type HeaderLine = readonly [name: string, value: string]

export const upgradeHeaders: readonly HeaderLine[] = [
  ['connection', 'Upgrade'],
  ['upgrade', 'websocket'],
  ['sec-websocket-version', '13'],
  ['sec-websocket-key', 'AAAAAAAAAAAAAAAAAAAAAA=='],
  ['sec-websocket-protocol', 'mcp'],
]

export interface FrameOptions {
  readonly opcode?: number
  readonly final?: boolean
  readonly masked?: boolean
}

/** Builds one client frame: by default text, complete and masked. */
export function frameOf(payload: string | Buffer, options: FrameOptions = {}): Buffer {
  const { opcode = 1, final = true, masked = true } = options
  const bytes = Buffer.from(payload as string)
  const small = bytes.length < 126
  const medium = bytes.length < 65_536
  const head = Buffer.alloc(2 + (small ? 0 : medium ? 2 : 8))
  head[0] = (final ? 0x80 : 0) | opcode
  head[1] = (masked ? 0x80 : 0) | (small ? bytes.length : medium ? 126 : 127)
  if (!small && medium) head.writeUInt16BE(bytes.length, 2)
  else if (!small) head.writeBigUInt64BE(BigInt(bytes.length), 2)
  // A mask of zeros changes nothing.
  return Buffer.concat([head, masked ? Buffer.alloc(4) : Buffer.alloc(0), bytes])
}

/** Opens a socket and returns the answer to the upgrade. */
export async function rawSocket(
  port: number,
  headers: readonly HeaderLine[] = [['host', `127.0.0.1:${port}`]],
  path = '/ws',
): Promise<{ readonly http: RawHttp; readonly response: RawResponse }> {
  const http = await rawHttp(port)
  http.write(requestHead([...headers, ...upgradeHeaders], { method: 'GET', path }))
  return { http, response: await http.next() }
}

/** Returns the code of the close frame, once it has arrived. The server's frames are not masked. */
export async function closeCode(http: RawHttp): Promise<number> {
  await http.closed
  const bytes = Buffer.from(http.bytes)
  for (let at = 0; at + 1 < bytes.length; ) {
    const opcode = (bytes[at] ?? 0) & 0x0f
    const short = (bytes[at + 1] ?? 0) & 0x7f
    const from = at + (short === 126 ? 4 : short === 127 ? 10 : 2)
    const length =
      short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short
    if (opcode === 8) return bytes.readUInt16BE(from)
    at = from + length
  }
  throw new Error('Closed without a close frame')
}
