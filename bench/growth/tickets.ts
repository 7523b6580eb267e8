/** A call that needs an approval, and the first page of tickets, while many wait for a decision, on SQLite. */
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { authenticate, createServer, defineServer, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { toTransportServer } from 'sluice/extend'
import { idempotency } from 'sluice/plugins'
import { sqliteStore } from 'sluice/sqlite'
import * as z from 'zod'
import { httpHeaders } from '../lib/messages.ts'
import type { Growth } from './growth.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-growth-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const store = sqliteStore(join(folder, 'tickets.db'))
const day = 86_400_000
const approvals = createApprovals({ store, maxPending: 1_000_000, decideMs: day, runMs: day })
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
const server = toTransportServer(
  createServer(defineServer({ name: 'bench', version: '1.0.0', tools: [pay] }), {
    store,
    use: [authenticate({ verifiers: [{ verify }] }), approvals, idempotency()],
  }),
)
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
const headers = httpHeaders('tools/call', '2026-07-28', 'pay')
let tickets = 0

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

export const growth: Growth = {
  what: 'tickets',
  measured: 'a call that needs an approval, and a page of ten',
  sizes: [10, 1_000, 10_000],
  async growTo(size) {
    // Many at a time, because each waits for the disk.
    while (tickets < size) await Promise.all(Array.from({ length: Math.min(100, size - tickets) }, request))
  },
  async call() {
    await request()
    const { tickets: page } = await approvals.list({ limit: 10 })
    if (page.length !== 10) throw new Error(`${page.length} tickets`)
  },
}
