import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/client'
import { serveHttp } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { webSocketTransport } from 'sluice/websocket-client'
import { hello } from '../hello.ts'

const serving = await serveHttp(hello, { port: 0, sse: sse(), websocket: websocket() })

const client = new Client({ name: 'example', version: '1' })
await client.connect(webSocketTransport(serving.url.replace(/^http(.*)\/mcp$/, 'ws$1/ws')))
const { content } = await client.callTool({ name: 'shout', arguments: { text: 'hello' } })
assert.deepEqual(content, [{ type: 'text', text: 'HELLO' }])

await client.close()
await serving.close()
