/** `@modelcontextprotocol/ext-tasks`, the official requester side of tasks, over HTTP. */

import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Params } from 'sluice'
import { importFrom } from '../processes/npm-packages.ts'

/** As much of the package's types as tests use. */
export interface TaskSession {
  callTool(name: string, args?: Params): Promise<TaskExecution>
  resumeTask(reference: unknown): Promise<TaskExecution>
  task(taskId: string): {
    snapshot(): Promise<Params>
    updateJson(inputResponses: Params): Promise<void>
    cancel(): Promise<void>
  }
  close(): Promise<void>
}
export interface TaskExecution {
  readonly kind: 'immediate' | 'task'
  readonly handle?: { readonly taskId: string }
  settle(): Promise<{ readonly outcome: Params; readonly lastTask?: Params }>
  cancel(): Promise<void>
  detach(): Promise<void>
  serializeReference(): unknown
}
interface Requested {
  readonly kind: string
  readonly params: Params
}
interface DispatchOptions {
  readonly signal?: AbortSignal
  readonly context?: { readonly headers?: { readonly [name: string]: string } }
}

export interface TaskClientOptions {
  readonly url: string
  readonly token: string
  /** Answers elicitations. */
  readonly answer?: (request: Requested) => Params | Promise<Params>
  /** Sees every message that tasks are made of, in both directions. */
  readonly watch?: (sent: Params, received: Params) => void
}

const protocolVersion = '2026-07-28'
const clientInfo = { name: 'ext-tasks test', version: '1' }
const clientCapabilities = { elicitation: { form: {} } }

export async function connectTasks({ url, token, answer, watch }: TaskClientOptions): Promise<TaskSession> {
  const sdk = await importFrom<{
    Client: typeof Client
    StreamableHTTPClientTransport: typeof StreamableHTTPClientTransport
  }>('ext-tasks', './@modelcontextprotocol/client/dist/index.mjs')
  const { createTaskSessionFromClient } = await importFrom<{
    createTaskSessionFromClient(client: Client, options: object): TaskSession
  }>('ext-tasks', './@modelcontextprotocol/ext-tasks/dist/client/index.js')
  const headers = { authorization: `Bearer ${token}` }
  const client = new sdk.Client(clientInfo, {
    capabilities: clientCapabilities,
    versionNegotiation: { mode: { pin: protocolVersion } },
  })
  await client.connect(new sdk.StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  let ids = 0
  /** The SDK's client takes no result that it does not know, so the package has its host send the messages of tasks. */
  async function rawDispatch(request: Params, { signal, context }: DispatchOptions = {}): Promise<Params> {
    const { method, params } = request as { method: string; params: Params }
    const message = { jsonrpc: '2.0', id: ++ids, method, params }
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...{ ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        ...{ 'mcp-protocol-version': protocolVersion, 'mcp-method': method },
        ...(method === 'tools/call' && { 'mcp-name': String(params['name']) }),
        ...context?.headers,
      },
      body: JSON.stringify(message),
      ...(signal && { signal }),
    })
    const received = messageIn(response.headers.get('content-type') ?? '', await response.text())
    watch?.(message, received)
    return 'error' in received
      ? { kind: 'error', error: received['error'] }
      : { kind: 'result', result: received['result'] }
  }
  const session = createTaskSessionFromClient(client, {
    ...{ endpointId: 'test', rawDispatch, v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities } },
    ...(answer && { onInputRequest: async (request: Requested) => answer(request) }),
  })
  return Object.assign(Object.create(session) as TaskSession, {
    callTool: (name: string, args: Params = {}) => session.callTool(name, args),
    async close() {
      await session.close()
      await client.close()
    },
  })
}

/** The last message of an answer, plain or as an event stream. */
function messageIn(type: string, body: string): Params {
  if (!type.includes('text/event-stream')) return JSON.parse(body) as Params
  const lines = body.split('\n').filter((line) => line.startsWith('data: '))
  return JSON.parse(lines.at(-1)?.slice(6) ?? '{}') as Params
}
