/**
 * The entry point that the fitness document describes: it takes a request and its headers, and returns a response or
 * `null`. A thin adapter over `handle`; docs/documents.md#001 lists what it does as written.
 */

import type { HostContext, Logger, Server } from 'sluice'
import { dataFolder } from 'sluice/main'
import { createServer, nodeClock, stderrLogger } from 'sluice/node'
import { log } from 'sluice/plugins'
import { open } from './open.ts'

/** A JSON-RPC response, with the members that `processRequest` may set. */
export interface ProcessedResponse {
  readonly jsonrpc: '2.0'
  /** Absent if the request had none. */
  readonly id?: string | number
  readonly result?: { readonly [member: string]: unknown }
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown }
}

/** Keys are lower-case, as in Node. */
export type Headers = Readonly<Record<string, string | undefined>>

/** Processes requests until it is closed. */
export interface RequestProcessor {
  /** Returns `null` for a notification. Never rejects. */
  processRequest(request: unknown, headers?: Headers): Promise<ProcessedResponse | null>
  close(): Promise<void>
}

/** Serves requests in the document's form on any server; its codes need a server with `errors: 'json-rpc'`. */
export const toProcessRequest =
  (server: Pick<Server, 'handle'>): RequestProcessor['processRequest'] =>
  async (request, headers = {}) => {
    const { jsonrpc, method, id, params, auth_token }: Incoming = isObject(request) ? request : {}
    // Decided by the name alone: in the document an id does not turn a notification into a request.
    if (typeof method === 'string' && method.startsWith('notifications/')) {
      await server.handle({ jsonrpc, method, ...(isObject(params) && { params }) })
      return null
    }
    const refused = problemWith(jsonrpc, method, params)
    const answered = isId(id) ? { id } : {}
    if (refused !== undefined) return { jsonrpc: '2.0', ...answered, error: internal(refused) }
    const token = auth_token === undefined ? headers['authorization'] : `Bearer ${String(auth_token)}`
    const via = {
      transport: 'memory' as const,
      peer: 'memory',
      header: (name: string) => (name === 'authorization' ? token : headers[name]),
    }
    // A request without an id is answered too, so it gets a temporary one.
    const message = { jsonrpc, method, id: isId(id) ? id : 'no id', ...paramsOf(method, params) }
    const response = (await server.handle(message, { via })) as ProcessedResponse | null
    if (!response) return null
    const { result, error } = toDocumentedResponse(String(method), response)
    return { jsonrpc: '2.0', ...answered, ...(result && { result }), ...(error && { error }) }
  }

interface Incoming {
  readonly jsonrpc?: unknown
  readonly method?: unknown
  readonly id?: unknown
  readonly params?: unknown
  readonly auth_token?: unknown
}
const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id)

/** The document's own checks, with its messages and its single code. */
function problemWith(jsonrpc: unknown, method: unknown, params: unknown): string | undefined {
  if (jsonrpc !== '2.0') return `Invalid JSON-RPC version: got '${String(jsonrpc ?? '').slice(0, 20)}', expected '2.0'`
  if (typeof method !== 'string' || method === '') return 'Missing method'
  if (method === 'tools/call' && !isObject(params)) return 'Missing parameters for tools/call'
  return undefined
}
const internal = (text: string): NonNullable<ProcessedResponse['error']> => ({
  code: -32603,
  message: `Internal server error: ${text}`,
})

/** `arguments` may be null or missing, and every client is answered in revision 2025-06-18. */
function paramsOf(method: unknown, params: unknown): { readonly params?: object } {
  const input = isObject(params) ? params : {}
  if (method === 'initialize') return { params: { capabilities: {}, clientInfo, ...input, protocolVersion } }
  return { params: method === 'tools/call' ? { ...input, arguments: input['arguments'] ?? {} } : input }
}
const protocolVersion = '2025-06-18'
const clientInfo = { name: 'unknown', version: '0' }

function toDocumentedResponse(
  method: string,
  { result, error }: ProcessedResponse,
): Pick<ProcessedResponse, 'result' | 'error'> {
  // Every name below the two prefixes is answered; an unknown one has an empty result.
  const family = /^(resources|prompts)\//.exec(method)?.[1]
  if (error?.code === -32601 && family !== undefined) return { result: { [family]: [] } }
  if (error?.message === 'Internal error') return { error: { ...error, message: 'Internal server error' } }
  if (method !== 'initialize' || !result) return { ...(result && { result }), ...(error && { error }) }
  const { tools, resources, prompts } = result['capabilities'] as { readonly [name: string]: unknown }
  return { result: { ...result, capabilities: { tools, resources, prompts } } }
}

/** Opens a separate processor on the site's data, for one athlete. */
export async function openRequestProcessor(site: HostContext): Promise<RequestProcessor> {
  const { definition, close } = await open(site)
  const server = createServer(definition, { errors: 'json-rpc', clock: site.clock, use: [log(site.logger)] })
  return {
    processRequest: toProcessRequest(server),
    async close() {
      await server.close()
      await close()
    },
  }
}

let processor: Promise<RequestProcessor> | undefined

/**
 * Serves one request on this account's own log, the one `npx @sluice/fitness` uses. The first request opens it. Never
 * rejects.
 */
export async function processRequest(request: unknown, headers?: Headers): Promise<ProcessedResponse | null> {
  const logger = stderrLogger()
  try {
    processor ??= openDefaultProcessor(logger)
    return await (await processor).processRequest(request, headers)
  } catch (thrown) {
    processor = undefined
    logger.error({ event: 'notOpened', message: thrown instanceof Error ? thrown.message : String(thrown) })
    return { jsonrpc: '2.0', error: { code: -32603, message: 'Internal server error' } }
  }
}

const openDefaultProcessor = (logger: Logger): Promise<RequestProcessor> =>
  openRequestProcessor({ folder: dataFolder('sluice-fitness', undefined), env: process.env, clock: nodeClock, logger })
