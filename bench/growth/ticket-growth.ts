/**
 * A call that needs an approval, the first page of tickets, and a denial, while many other tickets are pending. The
 * denial keeps their number.
 */
import { randomUUID } from 'node:crypto'
import { authenticate, createServer, defineServer, type Store, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { toTransportServer } from 'sluice/extend'
import { idempotency } from 'sluice/plugins'
import * as z from 'zod'
import { httpHeaders } from '../lib/messages.ts'
import type { Growth } from './growth.ts'

const day = 86_400_000
const pay = tool({
  name: 'pay',
  description: 'Pays',
  input: z.object({ to: z.string() }),
  approval: 'always',
  effect: ({ to }) => ({ To: to }),
  run: () => 'paid',
})
const verify = async (subject: string) => ({
  subject,
  credential: subject,
  scopes: new Set<string>(),
  claims: {},
  expires: Number.POSITIVE_INFINITY,
})
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const headers = httpHeaders('tools/call', '2026-07-28', 'pay')
/** Decides every ticket. */
const operator = { subject: 'operator', via: 'console', tenants: 'all', operator: true } as const
const maxParallel = 1_000

export function ticketGrowth(what: string, store: Store): Growth {
  const approvals = createApprovals({ store, maxPending: 1_000_000, decideMs: day, runMs: day })
  const server = toTransportServer(
    createServer(defineServer({ name: 'bench', version: '1.0.0', tools: [pay] }), {
      store,
      use: [authenticate({ verifiers: [{ verify }] }), approvals, idempotency()],
    }),
  )
  let tickets = 0
  let latest = ''
  approvals.watch(({ id }) => {
    latest = id
  })

  /** A caller has ten tickets, so that the number of callers grows too. */
  async function request(): Promise<void> {
    const caller = `caller-${Math.floor(tickets++ / 10)}`
    const params = { name: 'pay', arguments: { to: randomUUID() }, _meta }
    const answer = await server.handleText(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      {
        via: {
          transport: 'http',
          peer: '127.0.0.1',
          header: (name) => (name === 'authorization' ? `Bearer ${caller}` : headers[name]),
        },
      },
    )
    if (!answer?.includes('approval')) throw new Error(`answers ${answer}`)
  }

  return {
    what,
    measured: 'a call that needs an approval, a page of ten, a denial',
    sizes: [10, 1_000, 10_000, 100_000],
    async growTo(size) {
      // Many at a time, because each waits for the disk.
      while (tickets < size) await Promise.all(Array.from({ length: Math.min(maxParallel, size - tickets) }, request))
    },
    async call() {
      await request()
      const { tickets: page } = await approvals.list({ limit: 10 })
      if (page.length !== 10) throw new Error(`${page.length} tickets`)
      const { status } = await approvals.decide(latest, { approved: false }, operator)
      if (status !== 'denied') throw new Error(`the ticket is ${status}`)
      tickets--
    },
  }
}
