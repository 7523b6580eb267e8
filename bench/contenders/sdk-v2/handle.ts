/**
 * SDK v2 in process, in both documented forms: a server connected once to an in-memory transport, which is cheaper, and
 * the fetch handler, which builds a server per request.
 *
 * A server connected by hand speaks the earlier revisions, so its messages have their form.
 */
import { createMcpHandler, InMemoryTransport, type JSONRPCMessage } from '@modelcontextprotocol/server'
import { callMessage, echoText, httpHeaders, listMessage, openingMessages } from '../../lib/messages.ts'
import { type Case, serveCases } from '../cases.ts'
import { factory } from './server.ts'

async function inMemory(count: number): Promise<(message: string) => Promise<string>> {
  const [client, server] = InMemoryTransport.createLinkedPair()
  let answered: (answer: JSONRPCMessage) => void = () => {}
  client.onmessage = (answer) => answered(answer)
  await factory(count)().connect(server)
  await client.start()
  const ask = (message: string) =>
    new Promise<string>((resolve, reject) => {
      answered = (answer) => resolve(JSON.stringify(answer))
      client.send(JSON.parse(message)).catch(reject)
    })
  const [initialize, initialized] = openingMessages('2025-11-25')
  if (initialize) await ask(initialize)
  if (initialized) await client.send(JSON.parse(initialized))
  return ask
}

function fetched(count: number): (method: string, message: string) => Promise<string> {
  const handler = createMcpHandler(factory(count))
  return async (method, body) => {
    const headers = httpHeaders(method, '2026-07-28')
    const response = await handler.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body }))
    return response.text()
  }
}

const cases: Record<string, Case> = {}
for (const count of [1, 50, 200]) {
  const ask = await inMemory(count)
  const fetch = fetched(count)
  const [call, modernCall] = [callMessage('2025-11-25'), callMessage('2026-07-28')]
  cases[`text-${count}`] = { expect: echoText, call: () => ask(call) }
  cases[`fetch-${count}`] = { expect: echoText, call: () => fetch('tools/call', modernCall) }
  if (count === 200) {
    const [list, modernList] = [listMessage('2025-11-25'), listMessage('2026-07-28')]
    cases['list-200'] = { expect: 'neighbour_199', call: () => ask(list) }
    cases['fetch-list-200'] = { expect: 'neighbour_199', call: () => fetch('tools/list', modernList) }
  }
}

await serveCases(cases)
