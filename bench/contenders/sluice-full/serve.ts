/**
 * Sluice as an operator on the internet runs it: JWT, tenants, admission control, rate limits and concurrency, a scoped
 * tool, a log line per request to a file, metrics. Only the rates are raised for the benchmark, because they would end
 * it.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SignJWT } from 'jose'
import type { Plugin, ServerDefinition, Store } from 'sluice'
import { authenticate, concurrency, rateLimit, tenants } from 'sluice'
import { jwt } from 'sluice/jwt'
import { admission, createServer, fileLogger, nodeClock, serveHttp } from 'sluice/node'
import { health, idempotency, log, metrics } from 'sluice/plugins'
import { reportUrl } from '../served.ts'
import { define } from '../sluice/server.ts'

const secret = 'thirty-two characters of a secret'
const issuer = 'https://id.example.com'
const audience = 'https://mcp.example.com/mcp'
const token = await new SignJWT({ tenants: ['acme'], scope: 'echo' })
  .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt' })
  .setIssuer(issuer)
  .setAudience(audience)
  .setSubject('ann')
  .setIssuedAt()
  .setExpirationTime('1h')
  .sign(new TextEncoder().encode(secret))

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

const highLimit = { burst: 1e9, perSecond: 1e9 }

export interface FullOptions {
  readonly store?: Store
  readonly plugins?: readonly Plugin[]
  readonly definition?: ServerDefinition
}

export async function serveFull(options: FullOptions = {}): Promise<void> {
  const { store, plugins = [], definition = define(1, ['echo']) } = options
  const server = createServer(definition, {
    ...(store && { store }),
    clock: nodeClock,
    secret: 'another thirty-two characters long',
    use: [
      log(fileLogger(join(folder, 'requests.log'))),
      authenticate({ verifiers: [jwt({ secret, issuer, audience })] }),
      tenants({ claim: 'tenants' }),
      rateLimit(highLimit),
      concurrency(),
      idempotency(),
      metrics(),
      health(),
      ...plugins,
    ],
  })
  const http = await serveHttp(server, { port: 0, admission: admission({ perPeer: highLimit }) })
  reportUrl(http.url, { authorization: `Bearer ${token}` })
}
