/**
 * `@modelcontextprotocol/client` v2, which speaks both eras: pinned to 2026-07-28, or with the `initialize` handshake.
 */

import {
  Client,
  LOG_LEVEL_META_KEY,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { webSocketTransport } from 'sluice/websocket-client'
import { Inbox } from './inbox.ts'
import type {
  ListName,
  OfficialClient,
  PageReader,
  Params,
  ReceivedNotification,
  ServerLocation,
} from './official.client.ts'
import {
  allPages,
  clientCapabilities,
  clientInfo,
  createAnswers,
  notifications,
  pageOf,
  streamAwareFetch,
} from './official.client.ts'

export async function connectV2(
  place: ServerLocation,
  mode: 'legacy' | 'auto' | { pin: string },
): Promise<OfficialClient> {
  const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode } })
  const answers = createAnswers()
  const heard = new Inbox<ReceivedNotification>()
  let logLevel: string | undefined
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await answers.elicit({ ...params })) }))
  client.setRequestHandler('sampling/createMessage', async ({ params }) => ({ ...answers.sample({ ...params }) }))
  client.setRequestHandler('roots/list', async () => ({ roots: answers.roots() }))
  for (const method of notifications)
    client.setNotificationHandler(method, ({ params }) => heard.push({ method, params: { ...params } }))

  const watchful = streamAwareFetch()
  const http =
    place.transport === 'http'
      ? new StreamableHTTPClientTransport(new URL(place.url), { fetch: watchful.fetch })
      : undefined
  const stdio = place.transport === 'stdio' ? new StdioClientTransport(place) : undefined
  const old = place.transport === 'sse' ? new SSEClientTransport(new URL(place.url)) : undefined
  const socket = place.transport === 'websocket' ? webSocketTransport(place.url) : undefined
  const transport = http ?? stdio ?? old ?? socket
  if (!transport) throw new Error('unreachable')
  await client.connect(transport)
  const modern = client.getProtocolEra() === 'modern'
  if (http && !modern) await watchful.streaming

  /** On 2026-07-28 the level travels with each request. */
  const meta = (): { _meta?: { [key: string]: unknown } } =>
    modern && logLevel !== undefined ? { _meta: { [LOG_LEVEL_META_KEY]: logLevel } } : {}
  const pages: { readonly [list in ListName]: PageReader } = {
    tools: async (at) => pageOf(await client.listTools(at), ({ tools }) => tools),
    prompts: async (at) => pageOf(await client.listPrompts(at), ({ prompts }) => prompts),
    resources: async (at) => pageOf(await client.listResources(at), ({ resources }) => resources),
    templates: async (at) =>
      pageOf(await client.listResourceTemplates(at), ({ resourceTemplates }) => resourceTemplates),
  }

  return {
    revision: client.getNegotiatedProtocolVersion(),
    info: client.getServerVersion() as Params | undefined,
    capabilities: client.getServerCapabilities() as Params | undefined,
    instructions: client.getInstructions(),
    get sessionId() {
      return http?.sessionId
    },
    get pid() {
      return stdio?.pid ?? undefined
    },
    notFoundCode: -32602,
    answers,
    received: heard,
    list: (what) => allPages((cursor) => pages[what](cursor === undefined ? undefined : { cursor })),
    async call(name, args = {}, { onProgress, signal } = {}) {
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) }
      return { ...(await client.callTool({ name, arguments: { ...args }, ...meta() }, options)) }
    },
    read: async (uri) => ({ ...(await client.readResource({ uri })) }),
    getPrompt: async (name, args) => ({ ...(await client.getPrompt({ name, ...(args && { arguments: args }) })) }),
    complete: async (ref, argument, chosen) => ({
      ...(await client.complete({ ref, argument: { ...argument }, ...(chosen && { context: { arguments: chosen } }) }))
        .completion,
    }),
    async setLogLevel(level) {
      logLevel = level
      if (!modern) await client.setLoggingLevel(level)
    },
    async subscribe({ lists = [], uris = [] }) {
      if (!modern) {
        for (const uri of uris) await client.subscribeResource({ uri })
        return {
          async stop() {
            for (const uri of uris) await client.unsubscribeResource({ uri })
          },
        }
      }
      const subscription = await client.listen({
        ...(lists.includes('tools') && { toolsListChanged: true }),
        ...(lists.includes('prompts') && { promptsListChanged: true }),
        ...(lists.includes('resources') && { resourcesListChanged: true }),
        ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
      })
      return { stop: () => subscription.close(), ended: subscription.closed }
    },
    endSession: async () => http?.terminateSession(),
    close: () => client.close(),
  }
}
