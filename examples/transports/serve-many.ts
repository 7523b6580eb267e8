import assert from 'node:assert/strict'
import { defineServer, health } from 'sluice'
import { admission, createServer, serveMany } from 'sluice/node'
import { sse } from 'sluice/sse'
import { websocket } from 'sluice/websocket'
import { hello } from '../hello.ts'

const empty = createServer(defineServer({ info: { name: 'empty', version: '1' } }), { health: health() })

const serving = await serveMany(
  { '/hello': { server: createServer(hello, { health: health() }) }, '/empty': { server: empty } },
  { port: 0, sse: sse(), websocket: websocket(), admission: admission({}) },
)
assert.match(serving.urls['/hello'] ?? '', /\/hello\/mcp$/)

const ready = await fetch(new URL('/readyz', serving.urls['/hello']))
assert.equal(ready.status, 200)
await serving.close()
