/**
 * The block that the routing document describes: it takes a request as text, and returns the parsed request for the
 * next block or a JSON-RPC error. It runs no tool. A thin adapter over `handle`; docs/documents.md#004 lists what it
 * does as written.
 */

import { randomUUID } from 'node:crypto'
import type { Clock, Logger, ServerDefinition, ServerOptions } from 'sluice'
import { defineServer, tool } from 'sluice'
import { traceIdOf } from 'sluice/extend'
import { createServer, handleText, nodeClock, stderrLogger } from 'sluice/node'
import * as z from 'zod'
import { version } from './package.ts'

/** What the transport knows about the client that sent the text. */
export interface ListenConnection {
  readonly client_id: string
  /** By default the one in the request (`traceparent`), or a new one. */
  readonly trace_id?: string
  /** Keys are lower-case. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** The input of the next block. */
export interface ListenedRequest {
  readonly request_id: string | number
  readonly tool_name: string
  readonly arguments: { readonly [name: string]: unknown }
  readonly metadata: { readonly timestamp: string; readonly trace_id: string; readonly client_id: string }
}
/** The JSON-RPC error for a text that is not a request. */
export interface ListenError {
  readonly jsonrpc: '2.0'
  readonly id?: string | number
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Never rejects. */
export type ListenRequest = (text: string, connection: ListenConnection) => Promise<ListenedRequest | ListenError>

/** The clock, the log and the layers of a listener. */
export interface ListenOptions {
  readonly clock: Clock
  readonly logger: Logger
  /** Options of the server that guards the block: keys, limits, slots. */
  readonly server?: Omit<ServerOptions, 'clock' | 'errors'>
}

/** Creates a listener for these tool names. The next block checks the arguments. */
export function createListenRequest(
  tools: readonly string[],
  { clock, logger, server: options }: ListenOptions,
): ListenRequest {
  const server = createServer(toForwardingServer(tools), { ...options, clock, errors: 'json-rpc' })
  return async (text, { client_id, trace_id, headers = {} }) => {
    const via = { transport: 'memory' as const, peer: client_id, header: (name: string) => headers[name] }
    const answer = await handleText(server, text, { via, adapt: withRequiredParams })
    if (answer === null) return invalidRequest('Invalid request: a request needs an id')
    const response = JSON.parse(answer) as Partial<ListenError> & {
      readonly result?: { structuredContent?: HandedOverRequest }
    }
    const listened = response.result?.structuredContent
    if (!listened) return response.error ? (response as ListenError) : methodNotFound(response.id)
    const { request_id, tool_name, arguments: args, trace } = listened
    logger.info({
      event: 'received',
      message: `Received request ${request_id} for tool ${tool_name} from ${client_id}`,
    })
    return {
      request_id,
      tool_name,
      arguments: args,
      metadata: {
        timestamp: new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z'),
        trace_id: trace_id ?? trace ?? randomUUID(),
        client_id,
      },
    }
  }
}

/** The server's result for a call: the request itself, and the trace it belongs to. */
interface HandedOverRequest extends Omit<ListenedRequest, 'metadata'> {
  readonly trace: string | null
}

const toForwardingServer = (tools: readonly string[]): ServerDefinition =>
  defineServer({
    name: 'routes',
    version,
    tools: tools.map((name) =>
      tool({
        name,
        description: name,
        input: z.looseObject({}),
        run: (args, { call }) => ({
          structuredContent: { request_id: call.id, tool_name: name, arguments: args, trace: traceIdOf(call) ?? null },
          content: [],
        }),
      }),
    ),
  })

/**
 * The document requires `params` in every request, and MCP does not. So a request without them is treated as one
 * without a method.
 */
function withRequiredParams(message: unknown): unknown {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return message
  if ('params' in message && typeof message.params === 'object' && message.params !== null) return message
  const { method: _, ...rest } = message as { readonly method?: unknown }
  return rest
}

const invalidRequest = (message: string): ListenError => ({ jsonrpc: '2.0', error: { code: -32600, message } })
/** A method of MCP other than `tools/call` has no tool to pass on. */
const methodNotFound = (id: string | number | undefined): ListenError => ({
  jsonrpc: '2.0',
  ...(id !== undefined && { id }),
  error: { code: -32601, message: 'Method not found: only tools/call is supported' },
})

/** The tools of this server. */
export const toolNames = [
  ...['calculate_route', 'get_route_with_traffic', 'geocode_address'],
  ...['save_destination', 'list_destinations', 'update_destination', 'delete_destination'],
] as const

let defaultListener: ListenRequest | undefined

/** Listens for this server's tools; the log line on receipt goes to stderr. */
export const listenRequest: ListenRequest = (text, connection) => {
  defaultListener ??= createListenRequest(toolNames, { clock: nodeClock, logger: stderrLogger() })
  return defaultListener(text, connection)
}
