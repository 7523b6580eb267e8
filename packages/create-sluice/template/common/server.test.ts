import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClient } from 'sluice/testing'
import { server } from './server.ts'

test('shouts to clients of every revision', async () => {
  for (const revision of ['2024-11-05', '2025-11-25', '2026-07-28'] as const) {
    const client = await testClient(server, { revision })
    assert.equal((await client.call('shout', { text: 'hi' })).text(), 'HI')
    client.close()
  }
})

test('refuses an empty text', async () => {
  const client = await testClient(server)
  assert.equal((await client.call('shout', { text: '' })).isError, true)
  client.close()
})
