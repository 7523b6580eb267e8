import { testClient } from 'sluice/testing'
import { expect, test } from 'vitest'
import { hello } from './hello.ts'

test('the smallest server answers clients of the oldest and the newest revision', async () => {
  for (const revision of ['2024-11-05', '2026-07-28'] as const) {
    const client = await testClient(hello, { revision })
    expect(await client.call('shout', { text: 'hello' })).toMatchObject({ content: [{ type: 'text', text: 'HELLO' }] })
  }
})
