/** What a server on the internet adds: who is calling, for whom, how much, and what is remembered. */

import { apiKeys, createServer } from 'sluice'
import { jwt } from 'sluice/jwt'
import type { HttpServing } from 'sluice/node'
import { secretFromEnvironment, serveHttp, stderrLogger } from 'sluice/node'
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
    logger: stderrLogger(),
    authenticate: { verifiers: [jwt({ jwks: `${issuer}/jwks`, issuer, audience: resource }), apiKeys(store)] },
    tenant: { from: 'tenants' },
    limit: { rate: { capacity: 60, perSecond: 10 } },
    metrics: true,
    audit: true,
  })
  return serveHttp(server, {
    port,
    hosts: [new URL(resource).host],
    resource: { resource, authorizationServers: [issuer] },
    gate: { concurrency: 500 },
  })
}
