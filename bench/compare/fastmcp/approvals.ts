/** The closest there is: the tool asks the user of the client that called it. Any client can answer yes by itself. */

import { FastMCP } from 'fastmcp'
import * as z from 'zod'

const server = new FastMCP({ name: 'bank', version: '1.0.0' })

server.addTool({
  name: 'transfer',
  description: 'Transfers money',
  parameters: z.object({ to: z.string(), amount: z.number().positive() }),
  execute: async ({ to, amount }, { elicit }) => {
    const { action, content } = await elicit({
      message: `Transfer ${amount} to ${to}?`,
      requestedSchema: { type: 'object', properties: { confirmed: { type: 'boolean' } }, required: ['confirmed'] },
    })
    if (action !== 'accept' || content?.['confirmed'] !== true) return 'Not transferred'
    return `Transferred ${amount} to ${to}`
  },
})

await server.start({
  transportType: 'httpStream',
  httpStream: { port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' },
})
