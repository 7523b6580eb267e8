/** What a server on the internet adds: who is calling, for whom, how much, and what is remembered. */

import { apiKeys, audit, authenticate, health, limit, log, metrics, tenant } from 'sluice'
import { jwt } from 'sluice/jwt'
import type { HttpServing } from 'sluice/node'
import { createServer, gate, protectedResource, secretFromEnvironment, serveHttp, stderrLogger } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import { hello } from './hello.ts'

export interface Address {
  /** What clients call, and what their tokens must name as audience. */
  readonly resource: string
  readonly issuer: string
  readonly database: string
  readonly port: number
}

export function serveGuarded({ resource, issuer, database, port }: Address): Promise<HttpServing> {
  const store = sqliteStore(database)
  const server = createServer(hello, {
    store,
    secret: secretFromEnvironment(),
    log: log(stderrLogger()),
    authenticate: authenticate({
      verifiers: [jwt({ jwks: `${issuer}/jwks`, issuer, audience: resource }), apiKeys(store)],
    }),
    tenant: tenant({ from: 'tenants' }),
    limit: limit({ rate: { capacity: 60, perSecond: 10 } }),
    metrics: metrics(),
    health: health(),
    audit: audit(),
  })
  return serveHttp(server, {
    port,
    hosts: [new URL(resource).host],
    resource: protectedResource({ resource, authorizationServers: [issuer] }),
    gate: gate({ concurrency: 500 }),
  })
}
