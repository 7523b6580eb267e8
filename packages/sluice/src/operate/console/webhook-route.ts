/**
 * Where a chat, or another program that the webhook tells of tickets, sends what its people decided. The signature is all
 * that counts here: no cookie and no key is looked at, and nothing but a decision is taken.
 */

import type { ServerResponse } from 'node:http'
import { RpcError } from '../../core/error.ts'
import { prefixed } from '../../core/store.ts'
import { checkContentType, checkEncoding } from '../../transports/http/media.ts'
import type { NodeRequest } from '../../transports/node/http-message.ts'
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
    if (request.method !== 'POST') throw new RpcError('methodNotAllowed', 'Only POST')
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
