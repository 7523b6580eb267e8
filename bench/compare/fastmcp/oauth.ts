/** A tool behind OAuth: tokens of one issuer, for this server, with a scope. */

import { FastMCP } from 'fastmcp'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { ISSUER: issuer = '', RESOURCE: resource = '', PORT: port = '3000' } = process.env
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))
const metadata = `${new URL(resource).origin}/.well-known/oauth-protected-resource`

const server = new FastMCP({
  name: 'people',
  version: '1.0.0',
  oauth: { enabled: true, protectedResource: { resource, authorizationServers: [issuer] } },
  authenticate: async (request) => {
    try {
      const token = request.headers.authorization?.replace(/^Bearer /i, '') ?? ''
      const { payload } = await jwtVerify(token, keys, { issuer, audience: resource })
      return { subject: payload.sub ?? '', scopes: String(payload['scope'] ?? '').split(' ') }
    } catch {
      throw new Response(null, {
        status: 401,
        headers: { 'WWW-Authenticate': `Bearer resource_metadata="${metadata}"` },
      })
    }
  },
})

server.addTool({
  name: 'whoami',
  description: 'Names the caller',
  canAccess: (auth) => auth.scopes.includes('profile:read'),
  execute: async (_args, { session }) => session?.subject ?? '',
})

await server.start({ transportType: 'httpStream', httpStream: { port: Number(port), host: '127.0.0.1' } })
