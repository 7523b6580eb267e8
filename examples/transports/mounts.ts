import assert from 'node:assert/strict'
import { createServer as createHttpServer } from 'node:http'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'
import { sessions, toFetch } from 'sluice/fetch'
import { createHttpHandler, createServer, toFastify } from 'sluice/node'
import { websocket } from 'sluice/websocket'
import { hello } from '../hello.ts'

const server = createServer(hello)
const handler = createHttpHandler(server, { websocket: websocket() })

// node:http
const plain = createHttpServer(handler)
plain.on('upgrade', handler.upgrade)

// Express: before express.json()
const app = express()
app.use('/mcp', handler)

// Fastify
const quick = fastify()
quick.register(toFastify(handler), { prefix: '/mcp' })

// Hono, on any runtime
const hono = new Hono()
const edge = toFetch(server, { sessions: sessions() })
hono.mount('/mcp', edge, { replaceRequest: false })

const body = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'example', version: '1' } },
})
const headers = { 'content-type': 'application/json', host: 'localhost' }
const answer = await hono.request('http://localhost/mcp', { method: 'POST', headers, body })
assert.equal(answer.status, 200)
await quick.close()
await handler.close()
await edge.close()
