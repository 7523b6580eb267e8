/** A tool that runs only after a person approved exactly this call, in the console. */

import { createConsole } from '@sluice/console'
import { apiKeys, authenticate, defineServer, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { createServer, serveHttp } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import * as z from 'zod'

const { PORT: port = '3000', CONSOLE_PORT: consolePort = '3001', DATABASE: database = 'bank.db' } = process.env

const transfer = tool({
  name: 'transfer',
  description: 'Transfers money',
  input: z.object({ to: z.string(), amount: z.number().positive() }),
  approval: 'always',
  stateless: true,
  run: ({ to, amount }) => `Transferred ${amount} to ${to}`,
})

const store = sqliteStore(database)
const keys = apiKeys(store)
const audit = createAudit({ store })
const approvals = createApprovals({ store, audit })
const consoleApp = createConsole({ store, approvals, audit })
const server = createServer(defineServer({ name: 'bank', version: '1.0.0', tools: [transfer] }), {
  store,
  use: [authenticate({ verifiers: [keys] }), approvals, audit, consoleApp.watch],
})
await serveHttp(server, { port: Number(port) })
await consoleApp.listen({ port: Number(consolePort) })
console.log(`Agent: Bearer ${(await keys.create({ subject: 'agent' })).secret}\nPerson: ${await consoleApp.link()}`)
