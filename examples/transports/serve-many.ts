import assert from 'node:assert/strict'
import { defineServer } from 'sluice'
import { admission, createServer, serveMany } from 'sluice/node'
import { health } from 'sluice/plugins'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { hello } from '../hello.ts'

const empty = createServer(defineServer({ name: 'empty', version: '1' }), { use: [health()] })

const serving = await serveMany(
  { '/hello': { server: createServer(hello, { use: [health()] }) }, '/empty': { server: empty } },
  { port: 0, sse: sse(), websocket: websocket(), admission: admission({}) },
)
assert.match(serving.urls['/hello'] ?? '', /\/hello\/mcp$/)

const ready = await fetch(new URL('/readyz', serving.urls['/hello']))
assert.equal(ready.status, 200)
await serving.close()
