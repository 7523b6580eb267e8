/** A tool behind OAuth: tokens of one issuer, for this server, with a scope. */

import { authenticate, defineServer, tool } from 'sluice'
import { jwt } from 'sluice/jwt'
import { createServer, protectedResource, serveHttp } from 'sluice/node'

const { ISSUER: issuer = '', RESOURCE: resource = '', PORT: port = '3000' } = process.env

const whoami = tool({
  name: 'whoami',
  description: 'Names the caller',
  scopes: ['profile:read'],
  run: (_input, { caller }) => caller.subject,
})

const server = createServer(defineServer({ name: 'people', version: '1.0.0', tools: [whoami] }), {
  use: [authenticate({ verifiers: [jwt({ jwks: `${issuer}/jwks`, issuer, audience: resource })] })],
})
await serveHttp(server, {
  port: Number(port),
  hosts: [new URL(resource).host],
  resource: protectedResource({ resource, authorizationServers: [issuer] }),
})
