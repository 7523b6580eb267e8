/** The binary over stdio and HTTP, with the official client. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { expect, test } from 'vitest'
import { overHttp, overStdio, programOf } from '../../../test/kit/clients/binary.client.ts'
import { aFolder } from './server.fixture.ts'

async function useEveryFeature(client: Client): Promise<void> {
  expect((await client.listTools()).tools).toHaveLength(23)
  await client.callTool({ name: 'connect_provider', arguments: { provider: 'synthetic' } })
  const answer = await client.callTool({ name: 'get_activities', arguments: { limit: 5, format: 'toon' } })
  expect(answer).toMatchObject({ isError: false, content: [{ text: expect.stringContaining('count: 5') }] })
  const { contents } = await client.readResource({ uri: 'chart://training-load' })
  expect(contents[0]).toMatchObject({ mimeType: 'image/svg+xml', text: expect.stringContaining('<svg') })
  const { resources } = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toContain('chart://training-load')
  expect((await client.getPrompt({ name: 'weekly-review' })).messages).toHaveLength(1)
}

test('the official client uses every feature over stdio, twice on the same data', async () => {
  const folder = aFolder()
  for (let start = 0; start < 2; start++) {
    const client = await overStdio('fitness', folder)
    await useEveryFeature(client)
    await client.close()
  }
})

test('it closes its file before it exits when its client disconnects', async () => {
  const folder = aFolder()
  const child = spawn(process.execPath, [programOf('fitness'), '--data', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.end()
  expect(await once(child, 'exit')).toEqual([0, null])
  // An open database has a log file beside it.
  expect(readdirSync(join(folder, 'servers/fitness'))).toEqual(['fitness.db'])
})

test('the official client uses every feature over HTTP', async () =>
  useEveryFeature(await (await overHttp('fitness', aFolder()))()))
