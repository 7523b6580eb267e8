/** Processes behind a whole gateway, as its clients see them. */

import { randomUUID } from 'node:crypto'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import { expect, test } from 'vitest'
import { clientOf, eras, servedAlone, token, withTokens } from '../kit.ts'
import { fixture, node } from './kit.ts'
import { running } from './running.ts'

const files = (more: { readonly args?: readonly string[] } = {}) =>
  upstream({ name: 'files', command: node, args: [fixture], scope: 'shared', ...more })

test.each(eras)(
  'a crash is a result that the model can read, and the next call is told when to try again (%s)',
  async (revision) => {
    const { url, team } = await servedAlone(files())
    const client = await clientOf(url, { revision })
    const crashed = await client.callTool('do', { how: 'exit' })
    expect(crashed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('may have run and was not repeated') }],
      _meta: { 'dev.sluice/error': { reason: 'upstreamInDoubt', mayHaveRun: true } },
    })
    const refused = await client.callTool('do', {})
    expect(refused).toMatchObject({
      isError: true,
      _meta: {
        'dev.sluice/error': { reason: 'upstreamUnavailable', mayHaveRun: false, retryAfterMs: expect.any(Number) },
      },
    })
    expect(team.states()[0]?.connections).toMatchObject([
      { state: 'backoff', lastError: 'files ended with exit code 3' },
    ])
    const tools: unknown[] = []
    for await (const { name } of client.tools()) tools.push(name)
    expect(tools).toEqual(['do'])
  },
)

test('an operator restarts an upstream that crashed', async () => {
  const { url, team } = await servedAlone(files())
  const client = await clientOf(url)
  await client.callTool('do', { how: 'exit' })
  await team.restart('files')
  expect(await client.callTool('do', {})).not.toMatchObject({ isError: true })
})

test('progress of a process reaches the response of its call, without a standalone stream', async () => {
  const { url } = await servedAlone(files())
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const post = (message: object, session: object = {}): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { ...headers, ...session },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
  const clientInfo = { name: 'test', version: '1' }
  const opened = await post({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
  })
  const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '', 'mcp-protocol-version': '2025-11-25' }
  await opened.text()
  await (await post({ method: 'notifications/initialized' }, session)).text()
  const params = { name: 'do', arguments: { how: 'progress', size: 3 }, _meta: { progressToken: 'mine' } }
  const answered = await (await post({ id: 2, method: 'tools/call', params }, session)).text()
  expect(answered.match(/"progressToken":"mine","progress":\d/g)).toHaveLength(3)
  expect(answered).toContain('done')
})

test('a client that closes its session ends the process of the session', async () => {
  const mark = randomUUID()
  const one = upstream({ name: 'files', command: node, args: [fixture, '', mark], scope: 'session', idleMs: 3_600_000 })
  const { url } = await servedAlone(one, { use: withTokens })
  const before = running(mark)
  const client = await clientOf(url, { revision: '2025-11-25' }, token('acme.ann'))
  await client.callTool('do', {})
  expect(running(mark)).toHaveLength(before.length + 1)
  await client.close()
  await expect.poll(() => running(mark), { timeout: 20_000 }).toEqual(before)
})

test('a server that closes leaves no process', async () => {
  const mark = randomUUID()
  const definition = gateway({ name: 'team', version: '1.0.0', upstreams: [files({ args: [fixture, '', mark] })] })
  const serving = await serveHttp(createServer(definition, { use: [log({ info() {}, warn() {}, error() {} })] }), {
    port: 0,
  })
  await (await clientOf(serving.url)).callTool('files_do', {})
  expect(running(mark)).toHaveLength(1)
  await serving.close()
  expect(running(mark)).toEqual([])
})
