/** What a server on the internet adds: identities, tenants, limits and persistent state. */

import { apiKeys, audit, authenticate, rateLimit, tenants } from 'sluice'
import { oauth } from 'sluice/jwt'
import type { HttpServing } from 'sluice/node'
import { admission, createServer, secretFromEnvironment, serveHttp, stderrLogger } from 'sluice/node'
import { health, log, metrics } from 'sluice/plugins'
import { sqliteStore } from 'sluice/sqlite'
import { hello } from './hello.ts'

export interface GuardedOptions {
  /** The address that clients call, and the audience that their tokens must have. */
  readonly resource: string
  readonly issuer: string
  readonly database: string
  readonly port: number
}

export function serveGuarded({ resource, issuer, database, port }: GuardedOptions): Promise<HttpServing> {
  const store = sqliteStore(database)
  const server = createServer(hello, {
    store,
    secret: secretFromEnvironment(),
    use: [
      log(stderrLogger()),
      authenticate({ verifiers: [oauth({ issuer, resource }), apiKeys(store)] }),
      tenants({ claim: 'tenants' }),
      rateLimit({ burst: 60, perSecond: 10 }),
      metrics(),
      health(),
      audit(),
    ],
  })
  return serveHttp(server, { port, admission: admission({ concurrency: 500 }) })
}
