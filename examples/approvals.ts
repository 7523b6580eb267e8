/** A tool that needs an approval, the service that manages approvals, and a chat that may send decisions. */

import type { Server as HttpServer, IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import type { Server, Store } from 'sluice'
import { apiKeys, authenticate, defineServer, RpcError, tenants, tool } from 'sluice'
import { type Approvals, createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { createServer } from 'sluice/node'
import * as z from 'zod'

const transfer = tool({
  name: 'transfer',
  description: 'Transfers money',
  annotations: { destructiveHint: true },
  input: z.object({ to: z.string(), amount: z.number().positive() }),
  // Small sums need no approval. Only `false` skips it; a function that throws requires it.
  approval: ({ amount }) => amount > 100,
  stateless: true,
  run: ({ to, amount }) => `Transferred ${amount} to ${to}`,
})
const balance = tool({
  name: 'balance',
  description: 'The balance of the account',
  annotations: { readOnlyHint: true },
  run: () => 'Enough',
})

export interface Bank {
  readonly server: Server
  readonly approvals: Approvals
}

/** `chat` is notified of every ticket and may send decisions back; both directions are signed with the secret. */
export function openBank(store: Store, secret: string, chat: { url: string; secret: string }): Bank {
  const audit = createAudit({ store })
  const approvals = createApprovals({
    store,
    audit,
    // Rules come before what the tools declare; the first that matches decides.
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
    use: [authenticate({ verifiers: [apiKeys(store)] }), tenants({ claim: 'tenants' }), approvals, audit],
  })
  return { server, approvals }
}

/** Receives what people decided in the chat. */
export const webhookServer = (approvals: Approvals): HttpServer =>
  createHttpServer((request, response) => {
    handleWebhook(approvals, request, response).catch(() => response.destroy())
  })

async function handleWebhook(approvals: Approvals, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    let body = ''
    for await (const chunk of request) {
      body += String(chunk)
      if (body.length > 10_000) throw new RpcError('payloadTooLarge', 'The body is too large for a decision')
    }
    const header = (name: string): string | undefined => request.headers[name]?.toString()
    const { id, status } = await approvals.handleWebhook(header, body)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id, status }))
  } catch (thrown) {
    const reason = thrown instanceof RpcError ? thrown.reason : 'internalError'
    response.writeHead(reason === 'unauthorized' ? 401 : 400).end(reason)
  }
}
