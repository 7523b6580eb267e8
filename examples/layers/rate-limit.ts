/** A bucket of two for one tool, and admission control before the body of any request is read. */

import assert from 'node:assert/strict'
import { rateLimit } from 'sluice'
import { admission, createServer, serveHttp } from 'sluice/node'
import { testClient } from 'sluice/testing'
import { hello } from '../hello.ts'

const server = createServer(hello, {
  use: [rateLimit({ burst: 60, perSecond: 10, tools: { shout: { burst: 2, perSecond: 0.01 } } })],
})

const client = await testClient(server)
await client.call('shout', { text: 'one' })
await client.call('shout', { text: 'two' })
assert.partialDeepStrictEqual(await client.send('tools/call', { name: 'shout', arguments: { text: 'three' } }), {
  error: { code: 42900, data: { reason: 'rateLimited' } },
})

const serving = await serveHttp(server, {
  port: 0,
  admission: admission({
    concurrency: 500,
    perPeer: { burst: 100, perSecond: 50 },
    connectionsPerPeer: 50,
    thresholds: { heap: 0.8 },
  }),
})
await serving.close()
