/** A tool behind OAuth: tokens of one issuer, for this server, with a scope. */

import { createServer } from 'node:http'
import { hostHeaderValidation, toNodeHandler } from '@modelcontextprotocol/node'
import {
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server'
import { createRemoteJWKSet, jwtVerify } from 'jose'

const { ISSUER: issuer = '', RESOURCE: resource = '', PORT: port = '3000' } = process.env
const resourceUrl = new URL(resource)
const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resourceUrl)
const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`))

const requireToken = requireBearerAuth({
  expectedResource: resourceUrl,
  requiredScopes: ['profile:read'],
  resourceMetadataUrl,
  verifier: {
    async verifyAccessToken(token) {
      try {
        const { payload } = await jwtVerify(token, keys, { issuer, audience: resource })
        return {
          token,
          clientId: String(payload['client_id'] ?? ''),
          scopes: String(payload['scope'] ?? '').split(' '),
          resource: resourceUrl,
          extra: { subject: payload.sub },
          ...(payload.exp !== undefined && { expiresAt: payload.exp }),
        }
      } catch {
        throw new OAuthError(OAuthErrorCode.InvalidToken, 'Invalid token')
      }
    },
  },
})

const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 'people', version: '1.0.0' })
  server.registerTool('whoami', { description: 'Names the caller' }, async (context) => ({
    content: [{ type: 'text', text: String(context.http?.authInfo?.extra?.['subject']) }],
  }))
  return server
})
const handle = toNodeHandler({
  async fetch(request) {
    if (new URL(request.url).pathname === new URL(resourceMetadataUrl).pathname)
      return Response.json({ resource, authorization_servers: [issuer] })
    const auth = await requireToken(request)
    return auth instanceof Response ? auth : mcp.fetch(request, { authInfo: auth })
  },
})
const isOurHost = hostHeaderValidation([resourceUrl.hostname])

createServer((request, response) => {
  if (!isOurHost(request, response)) return
  handle(request as Parameters<typeof handle>[0], response).catch(() => response.destroy())
}).listen(Number(port), '127.0.0.1')
