/** A tool that a person must allow first, the desk where people do, and a chat that may say it too. */

import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import type { Server, Store } from 'sluice'
import { apiKeys, audit, authenticate, defineServer, RpcError, tenants, tool } from 'sluice'
import { type Approvals, approvals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { elicitation, idempotency } from 'sluice/plugins'
import * as z from 'zod'

const transfer = tool({
  name: 'transfer',
  description: 'Transfers money',
  annotations: { destructiveHint: true },
  input: z.object({ to: z.string(), amount: z.number().positive() }),
  // Small sums need nobody. Anything but exactly false, and a function that throws, means yes.
  approval: ({ amount }) => amount > 100,
  stateless: true,
  run: ({ to, amount }) => `Transferred ${amount} to ${to}`,
})
const balance = tool({
  name: 'balance',
  description: 'How much there is',
  annotations: { readOnlyHint: true },
  run: () => 'Enough',
})

export interface Bank {
  readonly server: Server
  readonly approvals: Approvals
}

/** `chat` is told of every ticket and may send decisions back; both ways are signed with the secret. */
export function openBank(store: Store, secret: string, chat: { url: string; secret: string }): Bank {
  const desk = approvals({
    // Before what the tools say; the first that matches decides.
    rules: [
      { annotations: { readOnlyHint: true }, approval: 'never' },
      { tenant: 'treasury', approval: 'always', needed: 2, of: ['olga', 'omar', 'otto'] },
    ],
    approver: 'other',
    url: 'https://console.example',
    webhook: chat,
  })
  const server = createServer(defineServer({ name: 'bank', version: '1.0.0', tools: [transfer, balance] }), {
    store,
    secret,
    use: [
      authenticate({ verifiers: [apiKeys(store)] }),
      tenants({ claim: 'tenants' }),
      elicitation(),
      desk,
      idempotency(),
      audit(),
    ],
  })
  return { server, approvals: desk }
}

/** Where the chat sends what its people decided. Listens when you tell it to, on an address of its own. */
export const webhookServer = (desk: Approvals): HttpServer =>
  createHttpServer((request, response) => {
    handleWebhook(desk, request, response).catch(() => response.destroy())
  })

async function handleWebhook(desk: Approvals, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    let body = ''
    for await (const chunk of request) {
      body += String(chunk)
      if (body.length > 10_000) throw new RpcError('payloadTooLarge', 'A decision is shorter')
    }
    const header = (name: string): string | undefined => request.headers[name]?.toString()
    const { id, status } = await desk.handleWebhook(header, body)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status }))
  } catch (thrown) {
    const reason = thrown instanceof RpcError ? thrown.reason : 'internalError'
    response.writeHead(reason === 'unauthorized' ? 401 : 400).end(reason)
  }
}
