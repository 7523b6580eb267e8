import assert from 'node:assert/strict'
import { connect, httpTransport } from 'sluice/client'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, serveHttp, serveMany } from 'sluice/node'
import { hello } from '../hello.ts'

// Any MCP server of any revision. Here it is one of ours, on a port of this machine.
const existing = await serveHttp(hello, { port: 0 })

const team = gateway({
  name: 'team',
  version: '1.0.0',
  upstreams: [
    upstream({
      name: 'hello',
      url: existing.url,
      scope: 'shared',
      rules: [{ tools: 'delete_*', allow: false }, { timeoutMs: 10_000 }],
    }),
  ],
})

const serving = await serveMany(
  {
    '/all': { server: createServer(team) },
    '/hello': { server: createServer(team.endpoints['hello'] ?? team) },
  },
  { port: 0 },
)

const all = await connect(httpTransport(serving.urls['/all'] ?? ''))
const { content } = await all.callTool('hello_shout', { text: 'hello' })
assert.deepEqual(content, [{ type: 'text', text: 'HELLO' }])

const alone = await connect(httpTransport(serving.urls['/hello'] ?? ''), { revision: '2025-06-18' })
for await (const { name } of alone.tools()) assert.equal(name, 'shout')

console.log(team.states()[0]?.tools, 'tool of', team.states()[0]?.name)

await Promise.all([all.close(), alone.close()])
await serving.close()
await existing.close()
