/** A FastMCP server with a tool, a log, progress, an error for the user and an API key, written with Sluice. */

import assert from 'node:assert/strict'
import { apiKeys, authenticate, defineServer, fail, memoryStore, tool } from 'sluice'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import * as z from 'zod'

const fetchPage = tool({
  name: 'fetch_page',
  description: 'The title of a page',
  input: z.object({ url: z.url() }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  timeoutMs: 10_000,
  async run({ url }, { caller, log, progress }) {
    if (new URL(url).protocol !== 'https:') throw fail('Only https addresses are fetched')
    log('info', { fetching: url })
    progress(1, 2)
    return `A page for ${caller.subject}`
  },
})

const store = memoryStore()
const keys = apiKeys(store)
const server = createServer(defineServer({ name: 'pages', version: '1.0.0', tools: [fetchPage] }), {
  store,
  use: [authenticate({ verifiers: [keys] })],
})

const { secret } = await keys.create({ subject: 'ann' })
const client = await testClient(server, { headers: { authorization: `Bearer ${secret}` } })
assert.partialDeepStrictEqual(await client.call('fetch_page', { url: 'https://example.com' }), {
  content: [{ text: 'A page for ann' }],
})
assert.partialDeepStrictEqual(await client.call('fetch_page', { url: 'http://example.com' }), {
  isError: true,
  content: [{ text: 'Only https addresses are fetched' }],
})
