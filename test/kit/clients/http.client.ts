/** A client over HTTP, on its own port. A session of the earlier revisions also opens the standalone stream. */

import type { Server } from 'sluice'
import { serveHttp } from 'sluice/node'
import { toInitialize, toRequest, toResponse } from './envelope.ts'
import { isStream, messagesOf, modernHeaders, post } from './http-events.ts'
import { Inbox } from './inbox.ts'
import type { Id, Params, ProtocolClient, ProtocolClientOptions, SendOptions } from './protocol.ts'
import { isObject, resultOf } from './protocol.ts'

export interface HttpProtocolClient extends ProtocolClient {
  readonly url: string
  readonly session: { readonly [header: string]: string }
  /** The last response, for its status. */
  readonly last: Response | undefined
}

export async function openHttp(server: Server, options: ProtocolClientOptions): Promise<HttpProtocolClient> {
  const serving = await serveHttp(server, { port: 0 })
  const { url } = serving
  const heard = new Inbox<Params>()
  const open = new Map<Id, AbortController>()
  const closing = new AbortController()
  const isModern = options.revision === '2026-07-28'
  let session: { [header: string]: string } = {}
  let last: Response | undefined
  let ids = 0
  /** An answer could not be posted, so the call that waits for it must not wait for ever. */
  const failed = (): void => closing.abort()

  /** Dispatches the server's messages; returns the response with this id. */
  async function read(response: Response, id?: Id): Promise<Params | null> {
    for await (const message of messagesOf(response)) {
      if (!isObject(message)) continue
      if (typeof message['method'] !== 'string') {
        if (id === undefined || message['id'] === id || message['id'] === undefined) return message
      } else take(message).catch(failed)
    }
    return null
  }
  async function take(message: Params): Promise<void> {
    heard.push(message)
    const { id, method, params } = message
    if (id !== undefined && options.answer)
      await post(url, toResponse(id, await options.answer(String(method), isObject(params) ? params : {})), session)
  }
  async function send(
    method: string,
    params: Params = {},
    { id = ++ids, meta }: SendOptions = {},
  ): Promise<Params | null> {
    const message = toRequest(options, method, params, { id, ...(meta && { meta }) })
    const controller = new AbortController()
    if (!open.has(id)) open.set(id, controller)
    try {
      const headers = isModern ? modernHeaders(message) : session
      last = await post(url, message, headers, AbortSignal.any([controller.signal, closing.signal]))
      const sessionId = last.headers.get('mcp-session-id')
      if (sessionId !== null) session = { 'mcp-session-id': sessionId }
      return await read(last, id)
    } catch (thrown) {
      if (controller.signal.aborted || closing.signal.aborted) return null
      throw thrown
    } finally {
      if (open.get(id) === controller) open.delete(id)
    }
  }
  async function notify(method: string, params: Params = {}): Promise<void> {
    last = await post(
      url,
      { jsonrpc: '2.0', method, params },
      isModern ? { 'mcp-protocol-version': options.revision } : session,
    )
    await last.text()
  }
  const greeting = resultOf(isModern ? await send('server/discover') : await send('initialize', toInitialize(options)))
  if (!isModern) {
    session = { ...session, 'mcp-protocol-version': options.revision }
    await notify('notifications/initialized')
    const headers = { accept: 'text/event-stream', ...session }
    const stream = await fetch(url, { headers, signal: closing.signal })
    if (!isStream(stream)) throw new Error(`No stream: ${stream.status}`)
    read(stream).catch(() => {})
  }
  return {
    revision: options.revision,
    server,
    handshake: greeting,
    url,
    get session() {
      return session
    },
    get last() {
      return last
    },
    received: heard,
    send,
    notify,
    async cancel(id) {
      if (isModern) open.get(id)?.abort()
      else await notify('notifications/cancelled', { requestId: id })
    },
    async close() {
      closing.abort()
      const closed = serving.close()
      // After an abort, fetch opens a spare connection without a request; closing would wait for it.
      serving.server.closeAllConnections()
      await closed
    },
  }
}
