/**
 * The route where the receiver of the webhook, such as a chat, sends decisions. It checks only the signature. It ignores
 * cookies and keys, and accepts nothing but a decision.
 */

import type { ServerResponse } from 'node:http'
import { RpcError } from 'sluice'
import type { NodeRequest } from 'sluice/internal'
import { checkContentType, checkEncoding, prefixed } from 'sluice/internal'
import type { ConsoleState } from './console-state.ts'
import { throttleAttempt, wrongCredentialBucket } from './login-throttle.ts'
import { notFound, sendJson } from './reply.ts'

export const webhookPath = 'hooks/approvals'

const maxBody = 16 * 1024

export type WebhookRoute = (request: NodeRequest, response: ServerResponse) => Promise<void>

export function createWebhookRoute({ approvals, store, logger }: ConsoleState): WebhookRoute {
  const consoleStore = prefixed(store, ['console'])
  return async function webhookRoute(request, response) {
    if (!approvals?.acceptsWebhook) throw notFound()
    if (request.method !== 'POST') throw new RpcError('methodNotAllowed', 'Method not allowed: use POST')
    checkContentType(request.header('content-type'))
    checkEncoding(request.header('content-encoding'))
    const body = await request.body(maxBody)
    const { peer } = request
    try {
      const { id, status } = await approvals.handleWebhook((name) => request.header(name), body)
      sendJson(response, 200, { id, status })
    } catch (thrown) {
      if (!(thrown instanceof RpcError) || thrown.reason !== 'unauthorized') throw thrown
      logger.warn({ event: 'console_hook_refused', peer })
      await throttleAttempt(consoleStore, 'wrong-signature', peer, wrongCredentialBucket)
      throw thrown
    }
  }
}
