/**
 * A small client for trying servers. It speaks 2026-07-28 if the server supports it, and `initialize` otherwise. One
 * function answers the server's questions in both eras.
 */

import { CommandError } from '../output.ts'
import { HttpStatusError } from './http.ts'
import type { Message, Params } from './message.ts'
import { clientInfo, isObject, modern, newestLegacy, RemoteError, withEnvelope } from './message.ts'
import type { ClientTransport } from './transport.ts'

export interface Client {
  readonly revision: string
  readonly server: Params
  readonly capabilities: Params
  request(method: string, params?: Params, signal?: AbortSignal): Promise<Params>
  close(): Promise<void>
}

export interface ClientOptions {
  readonly era?: 'modern' | 'legacy'
  /** Answers `elicitation/create` and similar requests. If absent, the client declares no such capability. */
  answer?(method: string, params: Params): Promise<Params>
  /** Receives progress and log messages. */
  onNotification?(method: string, params: Params): void
}

const maxRounds = 20

export async function connect(transport: ClientTransport, options: ClientOptions = {}): Promise<Client> {
  const { answer, onNotification, era } = options
  const capabilities: Params = answer ? { elicitation: { form: {}, url: {} } } : {}
  let ids = 0

  function onMessage(message: Message): void {
    const { method, id, params = {} } = message
    if (method === undefined) return
    if (id === undefined) onNotification?.(method, params)
    else
      respond(method, params)
        .then((outcome) => transport.exchange({ jsonrpc: '2.0', id, ...outcome }, onMessage))
        // The connection is closed, so the call that asked fails by itself.
        .catch(() => {})
  }
  async function respond(method: string, params: Params): Promise<Pick<Message, 'result' | 'error'>> {
    if (method === 'ping') return { result: {} }
    if (!answer) return { error: { code: -32601, message: 'Not supported' } }
    try {
      return { result: await answer(method, params) }
    } catch {
      // Without a response the server would wait until its deadline.
      return { error: { code: -32603, message: 'The client could not answer' } }
    }
  }
  async function ask(method: string, params: Params, signal?: AbortSignal): Promise<Params> {
    const response = await transport.exchange({ jsonrpc: '2.0', id: ++ids, method, params }, onMessage, signal)
    if (!response) throw new CommandError('The server closed the connection before its response was complete')
    if (response.error) throw new RemoteError(response.error)
    return response.result ?? {}
  }

  async function asModern(): Promise<Client> {
    transport.setRevision(modern)
    const discovered = await ask('server/discover', withEnvelope({}, capabilities))
    const meta = isObject(discovered['_meta']) ? discovered['_meta'] : {}
    async function request(method: string, params: Params = {}, signal?: AbortSignal): Promise<Params> {
      let result = await ask(method, withEnvelope(params, capabilities), signal)
      for (let round = 0; answer && result['resultType'] === 'input_required' && round < maxRounds; round++) {
        const inputResponses: Record<string, unknown> = {}
        for (const [key, question] of Object.entries(isObject(result['inputRequests']) ? result['inputRequests'] : {}))
          if (isObject(question))
            inputResponses[key] = await answer(
              String(question['method']),
              isObject(question['params']) ? question['params'] : {},
            )
        result = await ask(
          method,
          withEnvelope({ ...params, inputResponses, requestState: result['requestState'] }, capabilities),
          signal,
        )
      }
      return result
    }
    const server = meta['io.modelcontextprotocol/serverInfo']
    return {
      revision: modern,
      server: isObject(server) ? server : {},
      capabilities: isObject(discovered['capabilities']) ? discovered['capabilities'] : {},
      request,
      close: () => transport.close(),
    }
  }
  async function asLegacy(): Promise<Client> {
    const agreed = await ask('initialize', { protocolVersion: newestLegacy, capabilities, clientInfo })
    const revision = String(agreed['protocolVersion'])
    transport.setRevision(revision)
    await transport.exchange({ jsonrpc: '2.0', method: 'notifications/initialized' }, onMessage)
    return {
      revision,
      server: isObject(agreed['serverInfo']) ? agreed['serverInfo'] : {},
      capabilities: isObject(agreed['capabilities']) ? agreed['capabilities'] : {},
      request: (method, params = {}, signal) => ask(method, params, signal),
      close: () => transport.close(),
    }
  }
  if (era === 'modern') return asModern()
  if (era === 'legacy') return asLegacy()
  try {
    return await asModern()
  } catch (thrown) {
    // The credential was refused, so the other era would be refused too.
    if (thrown instanceof HttpStatusError && (thrown.status === 401 || thrown.status === 403)) throw thrown
    if (!(thrown instanceof RemoteError || thrown instanceof HttpStatusError)) throw thrown
    return asLegacy()
  }
}
