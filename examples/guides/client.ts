import assert from 'node:assert/strict'
import { connect, httpTransport } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import { serveHttp } from 'sluice/node'
import { hello } from '../hello.ts'

const serving = await serveHttp(hello, { port: 0 })

const sender = createNodeSender()
const client = await connect(httpTransport(serving.url, { sender: sender.send }))
console.log(client.agreement.revision, client.agreement.serverInfo)

for await (const { name, description } of client.tools()) console.log(name, description)

const { content } = await client.callTool('shout', { text: 'hello' }, { timeoutMs: 10_000 })
assert.deepEqual(content, [{ type: 'text', text: 'HELLO' }])

await client.close()
sender.close()
await serving.close()
