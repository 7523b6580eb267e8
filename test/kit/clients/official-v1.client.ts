/** `@modelcontextprotocol/sdk` v1, on which most clients are built. */

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { Inbox } from './inbox.ts'
import type {
  ListName,
  OfficialClient,
  PageReader,
  Params,
  ReceivedNotification,
  ServerLocation,
} from './official.client.ts'
import { allPages, clientCapabilities, clientInfo, createAnswers, pageOf, streamAwareFetch } from './official.client.ts'

export async function connectV1(place: ServerLocation): Promise<OfficialClient> {
  const client = new Client(clientInfo, { capabilities: clientCapabilities })
  const answers = createAnswers()
  const heard = new Inbox<ReceivedNotification>()
  let revision: string | undefined
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ({ ...(await answers.elicit({ ...params })) }))
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({ ...answers.sample({ ...params }) }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: answers.roots() }))
  client.fallbackNotificationHandler = async ({ method, params }) => heard.push({ method, params: { ...params } })

  const watchful = streamAwareFetch()
  const http =
    place.transport === 'http'
      ? new StreamableHTTPClientTransport(new URL(place.url), { fetch: watchful.fetch })
      : undefined
  const stdio = place.transport === 'stdio' ? new StdioClientTransport(place) : undefined
  const old = place.transport === 'sse' ? new SSEClientTransport(new URL(place.url)) : undefined
  const socket = place.transport === 'websocket' ? new WebSocketClientTransport(new URL(place.url)) : undefined
  // The class and the interface of v1 disagree about `undefined` in optional members.
  const transport = (http ?? stdio ?? old ?? socket) as Transport
  const setVersion = transport.setProtocolVersion?.bind(transport)
  transport.setProtocolVersion = (agreed) => {
    revision = agreed
    setVersion?.(agreed)
  }
  await client.connect(transport)
  if (http) await watchful.streaming
  const pages: { readonly [list in ListName]: PageReader } = {
    tools: async (at) => pageOf(await client.listTools(at), ({ tools }) => tools),
    prompts: async (at) => pageOf(await client.listPrompts(at), ({ prompts }) => prompts),
    resources: async (at) => pageOf(await client.listResources(at), ({ resources }) => resources),
    templates: async (at) =>
      pageOf(await client.listResourceTemplates(at), ({ resourceTemplates }) => resourceTemplates),
  }

  return {
    revision,
    info: client.getServerVersion() as Params | undefined,
    capabilities: client.getServerCapabilities() as Params | undefined,
    instructions: client.getInstructions(),
    get sessionId() {
      return http?.sessionId
    },
    get pid() {
      return stdio?.pid ?? undefined
    },
    notFoundCode: -32002,
    answers,
    received: heard,
    list: (what) => allPages((cursor) => pages[what](cursor === undefined ? undefined : { cursor })),
    async call(name, args = {}, { onProgress, signal } = {}) {
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) }
      return { ...(await client.callTool({ name, arguments: { ...args } }, undefined, options)) }
    },
    read: async (uri) => ({ ...(await client.readResource({ uri })) }),
    getPrompt: async (name, args) => ({ ...(await client.getPrompt({ name, ...(args && { arguments: args }) })) }),
    complete: async (ref, argument, chosen) => ({
      ...(await client.complete({ ref, argument: { ...argument }, ...(chosen && { context: { arguments: chosen } }) }))
        .completion,
    }),
    async setLogLevel(level) {
      await client.setLoggingLevel(level)
    },
    async subscribe({ uris = [] }) {
      for (const uri of uris) await client.subscribeResource({ uri })
      return {
        async stop() {
          for (const uri of uris) await client.unsubscribeResource({ uri })
        },
      }
    },
    endSession: async () => http?.terminateSession(),
    close: () => client.close(),
  }
}
