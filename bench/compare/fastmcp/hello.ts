/** One tool over HTTP, for clients on this machine. */

import { FastMCP } from 'fastmcp'
import * as z from 'zod'

const server = new FastMCP({ name: 'hello', version: '1.0.0' })

server.addTool({
  name: 'shout',
  description: 'Says it louder',
  parameters: z.object({ text: z.string().min(1) }),
  execute: async ({ text }) => text.toUpperCase(),
})

await server.start({
  transportType: 'httpStream',
  httpStream: { port: Number(process.env['PORT'] ?? 3000), host: '127.0.0.1' },
})
