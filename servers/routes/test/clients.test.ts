/** As people use it: the binary, over stdio and HTTP, with the official client; and what the document says of overload and keys. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf } from '../../../test/services/address.ts'
import { aFolder } from './server.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

async function walkThrough(client: Client): Promise<void> {
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual([
    'calculate_route',
    'get_route_with_traffic',
    'geocode_address',
    'save_destination',
    'list_destinations',
    'update_destination',
    'delete_destination',
  ])
  const answer = await client.callTool({
    name: 'calculate_route',
    arguments: { origin: 'Hanoi', destination: 'Ho Chi Minh City' },
  })
  expect(answer).toMatchObject({
    isError: false,
    content: [{ type: 'text' }, { type: 'resource' }, { type: 'image', mimeType: 'image/svg+xml' }],
  })
  expect((await client.readResource({ uri: 'history://requests' })).contents[0]).toMatchObject({
    mimeType: 'application/json',
  })
  expect(
    (await client.getPrompt({ name: 'plan-a-trip', arguments: { from: 'Huế', to: 'Vinh' } })).messages,
  ).toHaveLength(1)
}

test('over stdio', async () => {
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, '--data', aFolder()], stderr: 'ignore' }),
  )
  onTestFinished(() => client.close())
  await walkThrough(client)
})

test('over HTTP', async () => {
  const child = spawn(process.execPath, [main, '--http', '--port', '0', '--data', aFolder()], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const { url } = await addressOf(child)
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  onTestFinished(() => client.close())
  await walkThrough(client)
})
