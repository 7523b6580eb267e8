/** The configuration of a command without settings: what `config/schema.ts` makes of nothing, which a test compares. */

import type { Config } from './schema.ts'

export const defaults: Config = {
  host: '127.0.0.1',
  port: 3000,
  data: '.sluice',
  store: 'sqlite',
  sharedData: false,
  processes: {},
  log: { level: 'info' },
  authenticate: { apiKeys: true, jwt: [], paramsToken: false },
  tenants: { claim: 'tenants' },
  rateLimit: {},
  concurrency: {},
  admission: {},
  idempotency: {},
  audit: { retention: { maxMegabytes: 1000 } },
  errors: 'mcp',
  sessions: {},
  metrics: true,
  tracing: false,
  sse: true,
  websocket: false,
  approvals: { approver: 'owner', rules: [] },
  console: { port: 4100, host: '127.0.0.1' },
  drain: {},
}
