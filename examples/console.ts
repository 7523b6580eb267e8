/**
 * A tool that needs an approval, and the console where people approve: `node examples/console.ts`, then open the link.
 */

import type { Console } from '@sluice/console'
import { createConsole } from '@sluice/console'
import type { ServerDefinition } from 'sluice'
import { apiKeys, authenticate, defineServer, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import type { HttpServing } from 'sluice/node'
import { createServer, serveHttp } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import * as z from 'zod'
import pkg from './package.json' with { type: 'json' }

const shop: ServerDefinition = defineServer({
  name: 'shop',
  version: pkg.version,
  tools: [
    tool({
      name: 'refund',
      description: 'Pays money back to a customer',
      input: z.object({ order: z.string(), cents: z.number().int().positive() }),
      annotations: { destructiveHint: true },
      approval: 'always',
      stateless: true,
      run: ({ order, cents }) => `${cents} cents went back for ${order}`,
    }),
  ],
})

export interface Shop {
  readonly mcp: HttpServing
  readonly consoleApp: Console
  /** An agent's API key. */
  readonly key: string
  close(): Promise<void>
}

export async function openShop({ database, port = 0 }: { database: string; port?: number }): Promise<Shop> {
  const store = sqliteStore(database)
  const keys = apiKeys(store)
  const audit = createAudit({ store })
  const approvals = createApprovals({ store, audit, url: () => consoleApp.url })
  const consoleApp: Console = createConsole({ store, approvals, audit })
  const server = createServer(shop, {
    store,
    use: [authenticate({ verifiers: [keys] }), approvals, audit, consoleApp.watch],
  })
  const mcp = await serveHttp(server, { port })
  const page = await consoleApp.listen({ port: port === 0 ? 0 : port + 1 })
  const { secret: key } = await keys.create({ subject: 'agent', label: 'the example' })
  return {
    ...{ mcp, consoleApp, key },
    async close() {
      await page.close()
      await mcp.close()
      await store.close()
    },
  }
}

if (import.meta.main) {
  const { mcp, consoleApp, key } = await openShop({ database: 'shop.db', port: 3000 })
  console.log(`MCP      ${mcp.url}  with  Authorization: Bearer ${key}`)
  console.log(`Console  ${await consoleApp.link()}`)
}
