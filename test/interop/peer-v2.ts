/** `@modelcontextprotocol/client` v2, which speaks both eras: pinned to 2026-07-28, or by the `initialize` handshake. */

import {
  Client,
  LOG_LEVEL_META_KEY,
  SSEClientTransport,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { webSocketTransport } from 'sluice/websocket-client'
import { Heard } from './heard.ts'
import type { ListName, Note, Pages, Params, Peer, Place } from './peers.ts'
import {
  allPages,
  clientCapabilities,
  clientInfo,
  createAnswers,
  notifications,
  pageOf,
  watchfulFetch,
} from './peers.ts'

export async function connectV2(place: Place, mode: 'legacy' | 'auto' | { pin: string }): Promise<Peer> {
  const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode } })
  const answers = createAnswers()
  const heard = new Heard<Note>()
  let logLevel: string | undefined
  client.setRequestHandler('elicitation/create', async ({ params }) => ({ ...(await answers.elicit({ ...params })) }))
  client.setRequestHandler('sampling/createMessage', async ({ params }) => ({ ...answers.sample({ ...params }) }))
  client.setRequestHandler('roots/list', async () => ({ roots: answers.roots() }))
  for (const method of notifications)
    client.setNotificationHandler(method, ({ params }) => heard.push({ method, params: { ...params } }))

  const watchful = watchfulFetch()
  const http =
    place.over === 'http' ? new StreamableHTTPClientTransport(new URL(place.url), { fetch: watchful.fetch }) : undefined
  const stdio = place.over === 'stdio' ? new StdioClientTransport(place) : undefined
  const old = place.over === 'sse' ? new SSEClientTransport(new URL(place.url)) : undefined
  const socket = place.over === 'websocket' ? webSocketTransport(place.url) : undefined
  const transport = http ?? stdio ?? old ?? socket
  if (!transport) throw new Error('unreachable')
  await client.connect(transport)
  const modern = client.getProtocolEra() === 'modern'
  if (http && !modern) await watchful.streaming

  /** On 2026-07-28 the level travels with each request. */
  const meta = (): { _meta?: { [key: string]: unknown } } =>
    modern && logLevel !== undefined ? { _meta: { [LOG_LEVEL_META_KEY]: logLevel } } : {}
  const pages: { readonly [list in ListName]: Pages } = {
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
    notFound: -32602,
    answers,
    heard,
    list: (what) => allPages((cursor) => pages[what](cursor === undefined ? undefined : { cursor })),
    async call(name, args = {}, { onProgress, signal } = {}) {
      const options = { ...(onProgress && { onprogress: onProgress }), ...(signal && { signal }) }
      return { ...(await client.callTool({ name, arguments: { ...args }, ...meta() }, options)) }
    },
    read: async (uri) => ({ ...(await client.readResource({ uri })) }),
    prompt: async (name, args) => ({ ...(await client.getPrompt({ name, ...(args && { arguments: args }) })) }),
    complete: async (ref, argument, chosen) => ({
      ...(await client.complete({ ref, argument: { ...argument }, ...(chosen && { context: { arguments: chosen } }) }))
        .completion,
    }),
    async logAt(level) {
      logLevel = level
      if (!modern) await client.setLoggingLevel(level)
    },
    async watch({ lists = [], uris = [] }) {
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
