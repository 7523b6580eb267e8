/** An in-memory client of any revision, to test servers without a transport. */

import { createApprovals } from '../approvals/index.ts'
import { systemClock } from '../core/clock.ts'
import type { Connection } from '../core/connection.ts'
import type { Id, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { elicitation } from '../plugins/elicitation.ts'
import { idempotency } from '../plugins/idempotency.ts'
import { connect } from '../protocol/connect.ts'
import type { ServerDefinition } from '../protocol/definition.ts'
import type { RevisionName } from '../protocol/revisions.ts'
import { metaKeys, modernRevision } from '../protocol/revisions.ts'
import type { Server } from '../protocol/server.ts'
import { createServer } from '../server.ts'
import { memoryStore } from '../stores/memory.ts'
import type { TestToolResult } from './tool-result.ts'
import { toToolResult } from './tool-result.ts'

/** The client's revision, capabilities, headers and answers. */
export interface TestClientOptions {
  readonly revision?: RevisionName
  readonly capabilities?: Params
  /** Sent with every message, as over HTTP: `{ authorization: 'Bearer …' }`. */
  readonly headers?: { readonly [name: string]: string }
  /** Answers the server's questions: requests before 2026-07-28, `input_required` from then on. */
  answer?(method: string, params: Params): unknown
  /**
   * Decides about calls that need an approval, as the person would. An approved call then runs, and a denied one
   * returns an error. Without this option a gated call returns that an approval is required. A server that is passed in
   * needs `createApprovals({ approver: 'client' })`.
   */
  approve?(request: TestApproval): boolean | Promise<boolean>
}

/** What a person is shown before they decide. */
export interface TestApproval {
  readonly tool: string
  readonly arguments: Params
  readonly message: string
  /** What the call acts on, if the tool states it. */
  readonly effect?: Params
}

/** An in-memory client, without a transport. */
export interface TestClient {
  /** Calls a tool and answers its questions. Resolves with the result; rejects with a JSON-RPC error. */
  call(name: string, args?: Params): Promise<TestToolResult>
  request(method: string, params?: Params): Promise<Params>
  /** Returns the whole response, including an error; `null` if the call was cancelled. */
  send(method: string, params?: Params, id?: Id): Promise<Params | null>
  notify(method: string, params?: Params): Promise<void>
  /** All messages from the server that were not responses. */
  readonly received: readonly Params[]
  readonly server: Server
  close(): void
}

/** A JSON-RPC error as received, with its code and data. */
export class TestClientError extends Error {
  override readonly name = 'TestClientError'
  readonly error: Params
  constructor(error: Params) {
    super(String(error['message']))
    this.error = error
  }
}

const maxRounds = 10
const approvalKey = 'dev.sluice/approval'

/** Declares that this client reports decisions, as `approval/respond` requires. */
const withApprovals = (capabilities: Params = {}): Params => ({
  ...capabilities,
  extensions: { ...(isObject(capabilities['extensions']) && capabilities['extensions']), 'dev.sluice/approvals': {} },
})

/** Connects to a definition or a server in this process: `await testClient(definition)`. */
export async function testClient(
  from: ServerDefinition | Server,
  options: TestClientOptions = {},
): Promise<TestClient> {
  const { revision = modernRevision, headers = {}, answer, approve } = options
  const capabilities = approve ? withApprovals(options.capabilities) : (options.capabilities ?? {})
  const store = memoryStore(systemClock)
  const server =
    'handle' in from
      ? from
      : createServer(from, {
          store,
          use: [elicitation(), idempotency(), approve && createApprovals({ store, approver: 'client' })],
        })
  const received: Params[] = []
  const modern = revision === modernRevision
  const connection: Connection | undefined = modern
    ? undefined
    : connect(server, { send: (message) => receive(message) })
  let ids = 0

  function receive(message: object): void {
    const copy: Params = { ...message }
    const { id, method, params } = copy
    if (id === undefined || typeof method !== 'string') received.push(copy)
    // An error that a test's `answer` throws becomes a refusal, as it would from a client.
    else respond(id, method, isObject(params) ? params : {}).catch((thrown: unknown) => refuse(id, thrown))
  }
  async function respond(id: unknown, method: string, params: Params): Promise<void> {
    const result = answer ? await answer(method, params) : undefined
    const outcome = result === undefined ? { error: { code: -32601, message: 'Not supported' } } : { result }
    await server.handle({ jsonrpc: '2.0', id, ...outcome }, context())
  }
  function refuse(id: unknown, thrown: unknown): Promise<unknown> {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return server.handle({ jsonrpc: '2.0', id, error: { code: -32603, message } }, context())
  }
  const sentHeaders = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  const header = (name: string): string | undefined => sentHeaders.get(name)
  const context = (): Parameters<Server['handle']>[1] => ({
    via: { transport: 'memory', peer: 'test', header, ...(connection && { connection }) },
    send: receive,
  })
  const enveloped = (params: Params): Params =>
    modern
      ? {
          ...params,
          _meta: {
            ...(isObject(params['_meta']) && params['_meta']),
            [metaKeys.version]: revision,
            [metaKeys.capabilities]: capabilities,
            [metaKeys.client]: { name: 'test', version: '1' },
          },
        }
      : params

  async function send(method: string, params: Params = {}, id: Id = ++ids): Promise<Params | null> {
    const response = await server.handle({ jsonrpc: '2.0', id, method, params: enveloped(params) }, context())
    return response === null ? null : { ...response }
  }
  async function request(method: string, params: Params = {}): Promise<Params> {
    const response = await send(method, params)
    if (!response) throw new TestClientError({ code: 0, message: 'The call was cancelled, so it has no answer' })
    if (isObject(response['error'])) throw new TestClientError(response['error'])
    return isObject(response['result']) ? response['result'] : {}
  }
  async function callOnce(name: string, args: Params): Promise<Params> {
    let result = await request('tools/call', { name, arguments: args })
    for (let round = 0; answer && result['resultType'] === 'input_required' && round < maxRounds; round++) {
      const questions = isObject(result['inputRequests']) ? Object.entries(result['inputRequests']) : []
      const inputResponses: { [key: string]: unknown } = {}
      for (const [key, question] of questions)
        if (isObject(question))
          inputResponses[key] = await answer(
            String(question['method']),
            isObject(question['params']) ? question['params'] : {},
          )
      const more = { inputResponses, requestState: result['requestState'] }
      result = await request('tools/call', { name, arguments: args, ...more })
    }
    return result
  }
  async function call(name: string, args: Params = {}): Promise<TestToolResult> {
    const result = await callOnce(name, args)
    const asked = isObject(result['_meta']) ? result['_meta'][approvalKey] : undefined
    if (!approve || !isObject(asked)) return toToolResult(result)
    const { request_id, message, effect } = asked
    const shown = { tool: name, arguments: args, message: String(message), ...(isObject(effect) && { effect }) }
    const recorded = await request('approval/respond', { request_id, approved: await approve(shown) })
    // A denied call that is repeated would ask again, so the reply to the decision is the result.
    if (recorded['approved'] !== true)
      return toToolResult({ content: [{ type: 'text', text: recorded['message'] }], isError: true })
    return toToolResult(await callOnce(name, args))
  }
  if (!modern) {
    await request('initialize', { protocolVersion: revision, capabilities, clientInfo: { name: 'test', version: '1' } })
    await server.handle({ jsonrpc: '2.0', method: 'notifications/initialized' }, context())
  }
  return {
    call,
    request,
    send,
    async notify(method, params = {}) {
      await server.handle({ jsonrpc: '2.0', method, params }, context())
    },
    received,
    server,
    close: () => connection?.close(),
  }
}
