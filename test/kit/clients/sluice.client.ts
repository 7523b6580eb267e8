/** `sluice/client` behind the face of the official clients, in either era. */

import type { Client, HttpSender, Transport } from 'sluice/client'
import { connect, httpTransport, sseTransport, webSocketTransport } from 'sluice/client'
import { createNodeSender, stdioTransport } from 'sluice/client-node'
import { Inbox } from './inbox.ts'
import type { OfficialClient, Params, ReceivedNotification, ServerLocation } from './official.client.ts'
import { clientInfo, createAnswers } from './official.client.ts'

type Revision = '2026-07-28' | '2025-11-25'

/** Watches what passes: the id of the session, and when the standalone stream is open. */
function watchfulSender(): { send: HttpSender; close(): void; readonly streaming: Promise<void>; session?: string } {
  const sender = createNodeSender()
  const streaming = Promise.withResolvers<void>()
  const watchful: ReturnType<typeof watchfulSender> = {
    streaming: streaming.promise,
    close: () => sender.close(),
    send(request) {
      const { response, abort } = sender.send(request)
      const watched = response.then((head) => {
        const session = head.header('mcp-session-id')
        if (session !== undefined) watchful.session = session
        if (request.method === 'GET') streaming.resolve()
        return head
      })
      return { response: watched, abort }
    },
  }
  return watchful
}

function transportTo(place: ServerLocation, sender: HttpSender): Transport {
  if (place.transport === 'stdio')
    return stdioTransport({ command: place.command, args: place.args, env: place.env ?? {} })
  if (place.transport === 'websocket') return webSocketTransport(place.url)
  return place.transport === 'http' ? httpTransport(place.url, { sender }) : sseTransport(place.url, { sender })
}

async function all(list: AsyncIterable<Params>): Promise<readonly Params[]> {
  const entries: Params[] = []
  for await (const entry of list) entries.push(entry)
  return entries
}

export async function connectSluice(place: ServerLocation, revision: Revision): Promise<OfficialClient> {
  const answers = createAnswers()
  const heard = new Inbox<ReceivedNotification>()
  const sender = watchfulSender()
  const elicit = async (params: Params): Promise<Params> => ({ ...(await answers.elicit(params)) })
  const client: Client = await connect(transportTo(place, sender.send), {
    clientInfo,
    revision,
    handlers: {
      form: elicit,
      url: elicit,
      sampling: async (params) => ({ ...answers.sample(params) }),
      roots: async () => ({ roots: answers.roots() }),
    },
    onNotification(method, params) {
      if (method !== 'notifications/progress' && method !== 'notifications/cancelled') heard.push({ method, params })
    },
  })
  const isModern = revision === '2026-07-28'
  if (place.transport === 'http' && !isModern) await sender.streaming
  let logLevel: string | undefined
  const { agreement } = client

  return {
    revision: agreement.revision,
    info: agreement.serverInfo,
    capabilities: agreement.capabilities,
    instructions: agreement.instructions,
    get sessionId() {
      return isModern ? undefined : sender.session
    },
    pid: undefined,
    notFoundCode: isModern ? -32602 : -32002,
    opensPages: true,
    answers,
    received: heard,
    list(what) {
      if (what === 'templates') return all(client.resourceTemplates())
      return all(client[what]())
    },
    call: (name, args, { onProgress, signal } = {}) =>
      client.callTool(name, args, {
        ...(signal && { signal }),
        ...(logLevel !== undefined && { logLevel }),
        ...(onProgress && {
          onProgress: ({ progressToken: _token, _meta, ...progress }) => onProgress(progress),
        }),
      }),
    read: (uri) => client.request('resources/read', { uri }),
    getPrompt: (name, args) => client.request('prompts/get', { name, ...(args && { arguments: args }) }),
    async complete(ref, argument, chosen) {
      const params = { ref, argument, ...(chosen && { context: { arguments: chosen } }) }
      return (await client.request('completion/complete', params))['completion'] as Params
    },
    async setLogLevel(level) {
      logLevel = level
      if (!isModern) await client.request('logging/setLevel', { level })
    },
    async subscribe({ lists = [], uris = [] }) {
      const ended = Promise.withResolvers<string>()
      const subscription = await client.subscribe(
        {
          ...(lists.includes('tools') && { toolsListChanged: true }),
          ...(lists.includes('prompts') && { promptsListChanged: true }),
          ...(lists.includes('resources') && { resourcesListChanged: true }),
          ...(uris.length > 0 && { resourceSubscriptions: uris }),
        },
        {
          // Before 2026-07-28 the client receives all of them through `onNotification`.
          notification(method, params) {
            if (isModern) heard.push({ method, params })
          },
          ended: (error) => ended.resolve(error ? 'error' : 'graceful'),
        },
      )
      return { stop: () => subscription.close(), ended: ended.promise }
    },
    async endSession() {
      if (sender.session === undefined || place.transport === 'stdio') return
      await fetch(place.url, { method: 'DELETE', headers: { 'mcp-session-id': sender.session } })
    },
    async close() {
      await client.close()
      sender.close()
    },
  }
}
