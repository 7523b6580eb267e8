/**
 * A gateway over HTTP in front of process upstreams, as a program to be killed. Tokens are `tenant.subject`. Prints its
 * address. Arguments: a mark for the command lines of its processes, and the file in which calls are recorded.
 */

import type { Verifier } from 'sluice'
import { authenticate, tenants } from 'sluice'
import { gateway, upstream } from 'sluice/gateway-node'
import { createServer, onSignals, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'

const [mark = '', ledger = ''] = process.argv.slice(2)
const verifier: Verifier = {
  async verify(token) {
    const [tenant, subject = ''] = token.split('.')
    return { subject, credential: 'test', scopes: new Set(), claims: { tenant }, expires: Number.POSITIVE_INFINITY }
  },
}
const program = `${import.meta.dirname}/upstream.fixture.ts`
const scopes = ['session', 'caller', 'tenant'] as const
const definition = gateway({
  ...{ name: 'soak', version: '1.0.0' },
  upstreams: scopes.map((scope) =>
    upstream({
      ...{ name: scope, scope, idleMs: 1000, trust: 'always' },
      ...{ command: process.execPath, args: [program, '', mark], env: { LEDGER: ledger } },
    }),
  ),
  processes: { maxProcesses: 100, maxPerTenant: 40 },
})
const server = createServer(definition, {
  use: [
    authenticate({ verifiers: [verifier] }),
    tenants({ claim: 'tenant' }),
    log({ info() {}, warn() {}, error: console.error }),
  ],
})
const serving = await serveHttp(server, { port: 0 })
onSignals(serving, { noticeMs: 0 })
process.stdout.write(`${serving.url}\n`)
