/**
 * The entry point that the memory document describes: it takes a request and returns the bare result or `{ error }`,
 * without the JSON-RPC envelope. A thin adapter over `handle`; docs/documents.md#000 lists what it does as written.
 */

import type { HostContext, Logger, Server } from 'sluice'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { dataFolder } from 'sluice/main'
import { createServer, nodeClock, stderrLogger } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
import { open } from './open.ts'

/** A bare result, such as `{ content, isError }` or `{ tools }`, or an error. */
export interface BareResponse {
  readonly error?: {
    readonly code: number
    readonly message: string
    readonly data?: { readonly [name: string]: unknown }
  }
  readonly [member: string]: unknown
}

/** Handles requests until it is closed. */
export interface RequestHandler {
  /** Answers every request, even one without an id. Never rejects. */
  handleRequest(request: unknown): Promise<BareResponse>
  close(): Promise<void>
}

/** Serves requests in the document's form on any server; its codes need a server with `errors: 'json-rpc'`. */
export const toHandleRequest =
  (server: Pick<Server, 'handle'>) =>
  async (request: unknown): Promise<BareResponse> => {
    if (typeof request !== 'object' || request === null || Array.isArray(request))
      return { error: { code: -32600, message: 'Invalid request format' } }
    // The document leaves the version to an SDK, and allows requests without an id.
    const { id = noId, ...message }: { id?: unknown } = request
    const response = await server.handle({ ...message, jsonrpc: '2.0', id: id ?? noId })
    return response === null ? {} : toBareResponse(response)
  }

/** The request id in the log for a request without one. */
const noId = '<no-id>'

function toBareResponse(response: object): BareResponse {
  if ('error' in response) return { error: toDocumentedError(response.error as NonNullable<BareResponse['error']>) }
  const result = 'result' in response ? (response.result as Result) : {}
  if (result.tools)
    return { tools: result.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) }
  if (result.content) return { content: result.content, isError: result.isError === true }
  return { ...result }
}
interface Result {
  readonly tools?: readonly { readonly name: string; readonly description: string; readonly inputSchema: object }[]
  readonly content?: readonly object[]
  readonly isError?: boolean
}

const internalError = 'Internal error occurred while processing request'
const toDocumentedError = (error: NonNullable<BareResponse['error']>): NonNullable<BareResponse['error']> =>
  error.message === 'Internal error' ? { ...error, message: internalError } : error

/** Opens a separate handler. The program that calls it is the client, and asks its own user (`approval/respond`). */
export async function openRequestHandler(site: HostContext): Promise<RequestHandler> {
  const { definition, layers, close } = await open(site)
  const { clock, logger } = site
  const store = memoryStore(clock)
  const server = createServer(definition, {
    errors: 'json-rpc',
    clock,
    store,
    use: [
      log(logger),
      createApprovals({ store, clock, logger, approver: 'client' }),
      ...(layers ?? []).map(customLayer),
    ],
  })
  return {
    handleRequest: toHandleRequest(server),
    async close() {
      await server.close()
      await close()
    },
  }
}

let handler: Promise<RequestHandler> | undefined

/**
 * Serves one request on this account's own memory, the one `npx @sluice/memory` uses. The first request opens it. Never
 * rejects.
 */
export async function handleRequest(request: unknown): Promise<BareResponse> {
  const logger = stderrLogger()
  try {
    handler ??= openDefaultHandler(logger)
    return await (await handler).handleRequest(request)
  } catch (thrown) {
    handler = undefined
    logger.error({ event: 'notOpened', message: thrown instanceof Error ? thrown.message : String(thrown) })
    return { error: { code: -32603, message: internalError } }
  }
}

const openDefaultHandler = async (logger: Logger): Promise<RequestHandler> =>
  openRequestHandler({ folder: dataFolder('sluice-memory', undefined), env: process.env, clock: nodeClock, logger })
