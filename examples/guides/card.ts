/** A server that tells the world where it is: its card, served beside the endpoint. */

import assert from 'node:assert/strict'
import { defineServer } from 'sluice'
import { card, catalogEntry } from 'sluice/card'
import { serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'

const about = { name: 'com.example/notes', url: 'https://mcp.example.com/mcp' }
const notes = defineServer({ name: 'notes', version: '1.0.0', description: 'Keeps notes under short titles' })
const quiet = log({ info() {}, warn: console.warn, error: console.error })
const serving = await serveHttp(notes, { port: 0, use: [card(about), quiet] })

const answer = await fetch(`${serving.url}/server-card`)
assert.equal(answer.headers.get('content-type'), 'application/mcp-server-card+json')
assert.partialDeepStrictEqual(await answer.json(), {
  name: 'com.example/notes',
  description: 'Keeps notes under short titles',
  remotes: [{ type: 'streamable-http', url: 'https://mcp.example.com/mcp' }],
})
// For /.well-known/ai-catalog.json of example.com.
assert.equal(catalogEntry(about)['url'], 'https://mcp.example.com/mcp/server-card')
await serving.close()
