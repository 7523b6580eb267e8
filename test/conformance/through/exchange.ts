/**
 * What the upstreams of `--through` answer. The official SDKs carry the messages; the answers are those of
 * `server.fixture.ts`, asked in the form of 2026-07-28.
 */

import type { Params, Server } from 'sluice'
import { createFixture } from '../server.fixture.ts'

export interface Exchange {
  /** The result of a request. `notify` gets what the work sends meanwhile. */
  answer(method: string, params: Params, context: ExchangeContext): Promise<Params>
}
export interface ExchangeContext {
  readonly capabilities: Params
  notify(method: string, params: Params): void
}
/** An error of the protocol. */
export class ExchangeError extends Error {
  readonly code: number
  readonly data: unknown
  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message)
    this.code = code
    this.data = data
  }
}

export function createExchange(): Exchange {
  const server: Server = createFixture()
  let ids = 0
  return {
    async answer(method, params, { capabilities, notify }) {
      const given = params['_meta'] as Params | undefined
      const _meta = {
        ...given,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': capabilities,
        'io.modelcontextprotocol/logLevel': 'debug',
      }
      const message = { jsonrpc: '2.0', id: ++ids, method, params: { ...params, _meta } }
      const send = (sent: object): void => {
        const { method: about, params: details } = sent as { method: string; params: Params }
        notify(about, details)
      }
      const reply: Params = { ...(await server.handle(message, { send })) }
      if (reply['error']) throw new ExchangeError(reply['error'] as { code: number; message: string })
      const { _meta: ofResult, ...result } = reply['result'] as Params
      const { 'io.modelcontextprotocol/serverInfo': _, ...kept } = (ofResult ?? {}) as Params
      return Object.keys(kept).length > 0 ? { ...result, _meta: kept } : result
    },
  }
}

/** Every method that the suite sends, besides those that an SDK answers by itself. */
export const methods = [
  ...['tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read'],
  ...['prompts/list', 'prompts/get', 'completion/complete'],
] as const
export const capabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
}
