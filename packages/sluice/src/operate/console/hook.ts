/**
 * Where a chat, or another program that the webhook tells of tickets, sends what its people decided. The signature is all
 * that counts here: no cookie and no key is looked at, and nothing but a decision is taken.
 */

import type { ServerResponse } from 'node:http'
import { RpcError } from '../../core/error.ts'
import { below } from '../../core/store.ts'
import { checkContentType, checkEncoding } from '../../transports/http/media.ts'
import type { NodeRequest } from '../../transports/http/node-message.ts'
import { countAttempt, wrong } from './attempts.ts'
import type { Panel } from './panel.ts'
import { notFound, send } from './reply.ts'

export const hookPath = 'hooks/approvals'

const maxBody = 16 * 1024

export type Hook = (request: NodeRequest, response: ServerResponse) => Promise<void>

export function createHook({ desk, store, logger }: Panel): Hook {
  const own = below(store, ['console'])
  return async function hook(request, response) {
    if (!desk?.hears) throw notFound()
    if (request.method !== 'POST') throw new RpcError('methodNotAllowed', 'Only POST')
    checkContentType(request.header('content-type'))
    checkEncoding(request.header('content-encoding'))
    const body = await request.body(maxBody)
    const { peer } = request
    try {
      const { id, status } = await desk.receive((name) => request.header(name), body)
      send(response, 200, { id, status })
    } catch (thrown) {
      if (!(thrown instanceof RpcError) || thrown.reason !== 'unauthorized') throw thrown
      logger.warn({ event: 'console_hook_refused', peer })
      await countAttempt(own, 'wrong-signature', peer, wrong)
      throw thrown
    }
  }
}
