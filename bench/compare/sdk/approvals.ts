/** The closest there is: the tool asks the user of the client that called it. Any client can answer yes by itself. */

import { createServer } from 'node:http'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

const confirmation = z.object({ confirmed: z.boolean() })

const handle = toNodeHandler(
  createMcpHandler(() => {
    const server = new McpServer({ name: 'bank', version: '1.0.0' })
    server.registerTool(
      'transfer',
      { description: 'Transfers money', inputSchema: z.object({ to: z.string(), amount: z.number().positive() }) },
      async ({ to, amount }, context) => {
        if (!acceptedContent(context.mcpReq.inputResponses, 'confirm', confirmation)?.confirmed)
          return inputRequired({
            inputRequests: {
              confirm: inputRequired.elicit({
                message: `Transfer ${amount} to ${to}?`,
                requestedSchema: confirmation,
              }),
            },
          })
        return { content: [{ type: 'text', text: `Transferred ${amount} to ${to}` }] }
      },
    )
    return server
  }),
)
const isLocalHost = localhostHostValidation()
const isLocalOrigin = localhostOriginValidation()

createServer((request, response) => {
  if (!isLocalHost(request, response) || !isLocalOrigin(request, response)) return
  handle(request as Parameters<typeof handle>[0], response).catch(() => response.destroy())
}).listen(Number(process.env['PORT'] ?? 3000), '127.0.0.1')
