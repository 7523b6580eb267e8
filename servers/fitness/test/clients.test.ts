/** As people use it: the binary over stdio and HTTP with the official client. */

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
  expect((await client.listTools()).tools).toHaveLength(16)
  const answer = await client.callTool({ name: 'get_activities', arguments: { limit: 5, format: 'toon' } })
  expect(answer).toMatchObject({ isError: false, structuredContent: { count: 5, synthetic: true } })
  const { contents } = await client.readResource({ uri: 'chart://training-load' })
  expect(contents[0]).toMatchObject({ mimeType: 'image/svg+xml', text: expect.stringContaining('<svg') })
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toContain('chart://training-load')
  expect((await client.getPrompt({ name: 'weekly-review' })).messages).toHaveLength(1)
}

test('over stdio, twice on the same data', async () => {
  const folder = aFolder()
  for (let start = 0; start < 2; start++) {
    const client = new Client({ name: 'a-client', version: '1.0.0' })
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [main, '--data', folder], stderr: 'ignore' }),
    )
    onTestFinished(() => client.close())
    await walkThrough(client)
    await client.close()
  }
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
