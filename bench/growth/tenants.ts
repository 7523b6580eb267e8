/** Calls of many tenants in turn, each with its rate limit and its place in the queue for slots. */
import { authenticate, concurrency, rateLimit, tenants } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { define } from '../contenders/sluice/server.ts'
import { callMessage, echoText, httpHeaders } from '../lib/messages.ts'
import type { Growth } from './growth.ts'

const message = callMessage('2026-07-28')
const headers = httpHeaders('tools/call', '2026-07-28')
const server = toTransportServer(
  createServer(define(1), {
    use: [
      authenticate({
        verifiers: [
          {
            verify: async (token) => ({
              subject: token,
              credential: token,
              scopes: new Set<string>(),
              claims: { tenants: [token] },
              expires: Number.POSITIVE_INFINITY,
            }),
          },
        ],
      }),
      tenants({ claim: 'tenants' }),
      rateLimit({ burst: 1e9, perSecond: 1e9 }),
      concurrency(),
    ],
  }),
)

let [size, next] = [1, 0]
const callAs = (tenant: number): string | null | Promise<string | null> =>
  server.handleText(JSON.parse(message), {
    via: {
      transport: 'http',
      peer: '127.0.0.1',
      header: (name) => (name === 'authorization' ? `Bearer tenant-${tenant}` : headers[name]),
    },
  })

export const growth: Growth = {
  what: 'tenants',
  measured: 'tools/call by each in turn',
  sizes: [1, 100, 10_000, 100_000],
  async growTo(wanted) {
    for (let tenant = size; tenant < wanted; tenant++) await callAs(tenant)
    size = wanted
  },
  call: () => callAs(next++ % size),
  expect: echoText,
}
