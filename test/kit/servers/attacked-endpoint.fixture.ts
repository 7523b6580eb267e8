/** The attacked server on a port of its own for a whole test file, and how its tests knock. */

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
  /** Exactly these headers and bytes; the connection is left open. */
  sendRaw(headers: Headers, bytes: string | Buffer, method?: string): Promise<RawHttp>
  /** As a proper client sends it, on a connection that is kept. */
  post(message: unknown, headers?: Headers): Promise<RawResponse>
}

export async function serveAttacked(options: { readonly maxBodyBytes?: number } = {}): Promise<AttackedEndpoint> {
  const { server, runs } = createAttackedServer()
  const serving = await serveHttp(server, { port: 0, ...options })
  const port = Number(new URL(serving.url).port)
  let kept: RawHttp | undefined
  afterAll(async () => {
    kept?.destroy()
    await serving.close()
  })
  /** The server closes what was silent for seconds, and a test between two posts may take that long. */
  async function connection(): Promise<RawHttp> {
    if (kept) return kept
    const opened = await rawHttp(port)
    kept ??= opened
    const onClosed = (): void => {
      kept = undefined
    }
    kept.closed.then(onClosed, onClosed)
    return kept
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
