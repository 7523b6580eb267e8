/** The attacked server on its own port for a whole test file, and helpers that send requests. */

import type { HttpServing } from 'sluice/node'
import { serveHttp } from 'sluice/node'
import { afterAll } from 'vitest'
import type { Headers, RawHttp, RawResponse } from '../clients/raw-http.client.ts'
import { rawHttp, requestHead } from '../clients/raw-http.client.ts'
import type { AttackedServer } from './attacked-server.fixture.ts'
import { createAttackedServer } from './attacked-server.fixture.ts'

export interface AttackedEndpoint extends Pick<AttackedServer, 'server' | 'runs'> {
  readonly serving: HttpServing
  readonly port: number
  /** Sends exactly these headers and bytes; the connection stays open. */
  sendRaw(headers: Headers, bytes: string | Buffer, method?: string): Promise<RawHttp>
  /** Sends a message as a proper client does, on a kept connection. */
  post(message: unknown, headers?: Headers): Promise<RawResponse>
}

export async function serveAttacked(options: { readonly maxBodyBytes?: number } = {}): Promise<AttackedEndpoint> {
  const { server, runs } = createAttackedServer()
  const serving = await serveHttp(server, { port: 0, ...options })
  const port = Number(new URL(serving.url).port)
  let current: RawHttp | undefined
  afterAll(async () => {
    current?.destroy()
    await serving.close()
  })
  /**
   * Reconnects if necessary: the server closes connections that were idle for seconds, and a test may take that long
   * between two posts.
   */
  async function connection(): Promise<RawHttp> {
    if (current) return current
    const opened = await rawHttp(port)
    current ??= opened
    const onClosed = (): void => {
      current = undefined
    }
    current.closed.then(onClosed, onClosed)
    return current
  }
  return {
    ...{ server, runs, serving, port },
    async sendRaw(headers, bytes, method = 'POST') {
      const http = await rawHttp(port)
      http.write(Buffer.concat([Buffer.from(requestHead(headers, { method }), 'latin1'), Buffer.from(bytes)]))
      return http
    },
    post: async (message, headers) => (await connection()).post(JSON.stringify(message), headers),
  }
}
