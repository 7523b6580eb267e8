/** A server that is protected by OAuth: an issuer and the server's own address are all it needs. */

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { createServer as createNodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { authenticate, defineServer, tool } from 'sluice'
import { toFetch } from 'sluice/fetch'
import { oauth } from 'sluice/jwt'
import { createServer } from 'sluice/node'

const { issuer, tokenFor, close } = await startIdentityProvider()
const resource = 'https://mcp.example.com/mcp'
const whoami = tool({ name: 'whoami', description: 'Names the caller', run: (_, { caller }) => caller.subject })

const server = createServer(defineServer({ name: 'notes', version: '1.0.0', tools: [whoami] }), {
  use: [authenticate(oauth({ issuer, resource }))],
})
const serve = toFetch(server)

// The rest plays a client. Without a token it learns where the metadata is, and there which issuer to ask.
const refused = await serve(callWith())
assert.equal(refused.status, 401)
const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? []
const metadata: unknown = await (await serve(new Request(metadataUrl))).json()
assert.partialDeepStrictEqual(metadata, { resource, authorization_servers: [issuer] })

const answered: unknown = await (await serve(callWith(tokenFor(resource)))).json()
assert.partialDeepStrictEqual(answered, { result: { content: [{ text: 'ann' }] } })

// A token for another server of the same issuer opens nothing here.
assert.equal((await serve(callWith(tokenFor('https://other.example.com/mcp')))).status, 401)
await serve.close()
close()

function callWith(token?: string): Request {
  return new Request(resource, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } }),
  })
}

/** Stands in for an identity provider: its metadata, its keys, and tokens that it signed. */
async function startIdentityProvider() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'one' }]
  const node = createNodeServer((request, response) => {
    const isMetadata = request.url === '/.well-known/oauth-authorization-server'
    response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/jwks` } : { keys }))
  })
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(node.address() as AddressInfo).port}`
  const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')
  function tokenFor(aud: string): string {
    const claims = { iss: issuer, aud, sub: 'ann', exp: Math.floor(Date.now() / 1000) + 600 }
    const signed = `${encoded({ alg: 'ES256', kid: 'one' })}.${encoded(claims)}`
    const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' })
    return `${signed}.${signature.toString('base64url')}`
  }
  return { issuer, tokenFor, close: () => node.close().closeAllConnections() }
}
