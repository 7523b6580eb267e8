/** API keys and an OAuth issuer's tokens open the same server; callers without either are refused. */

import assert from 'node:assert/strict'
import { apiKeys, authenticate, memoryStore } from 'sluice'
import { jwt } from 'sluice/jwt'
import { createServer } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { hello } from '../hello.ts'

const store = memoryStore()
const keys = apiKeys(store)
const server = createServer(hello, {
  store,
  use: [
    authenticate({
      verifiers: [
        jwt({ jwks: 'https://id.example/jwks', issuer: 'https://id.example', audience: 'https://mcp.example/mcp' }),
        keys,
      ],
    }),
  ],
})

// The key is shown once; the store has only its hash.
const { secret, key } = await keys.create({ subject: 'nightly build', scopes: ['deploy:write'] })
const guest = await testClient(server)
const robot = await testClient(server, { headers: { authorization: `Bearer ${secret}` } })

const refused = await guest.send('tools/call', { name: 'shout', arguments: { text: 'hello' } })
assert.partialDeepStrictEqual(refused, { error: { code: 40100, data: { reason: 'unauthorized' } } })
assert.partialDeepStrictEqual(await robot.call('shout', { text: 'hello' }), { content: [{ text: 'HELLO' }] })
assert.ok(await keys.revoke(key.id))
