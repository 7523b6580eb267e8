/** Responses of the console: JSON that is never cached, and errors with a reason. */

import type { ServerResponse } from 'node:http'
import type { Logger, Reason } from 'sluice'
import { RpcError } from 'sluice'
import { bugOf, isObject, statusOf } from 'sluice/internal'
import { noStore, securityHeaders } from './headers.ts'

export const headersFor = ({ cookie }: { readonly cookie?: string }): Record<string, string> => ({
  ...securityHeaders,
  ...noStore,
  ...(cookie !== undefined && { 'set-cookie': cookie }),
})

export function sendJson(response: ServerResponse, status: number, body: unknown, cookie?: string): void {
  const text = JSON.stringify(body)
  response.writeHead(status, {
    ...securityHeaders,
    ...noStore,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(cookie !== undefined && { 'set-cookie': cookie }),
  })
  response.end(text)
}

export const notFound = (): RpcError => new RpcError('resourceNotFound', 'Not found')

/** Reasons that the protocol reports with status 200 have their own status here. */
const statuses: { readonly [reason in Reason]?: number } = {
  invalidParams: 400,
  resourceNotFound: 404,
  conflict: 409,
  approvalInvalid: 409,
}

export function sendError(logger: Logger, response: ServerResponse, thrown: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  if (!(thrown instanceof RpcError)) {
    const reference = crypto.randomUUID().slice(0, 13)
    logger.error({ event: 'console_error', reference, ...bugOf(thrown) })
    sendJson(response, 500, { reason: 'internalError', message: `Internal error. The log has it as ${reference}` })
    return
  }
  const { reason, message, data } = thrown
  const retryAfterMs = isObject(data) ? data['retryAfterMs'] : undefined
  if (typeof retryAfterMs === 'number') response.setHeader('retry-after', Math.ceil(retryAfterMs / 1000))
  if (reason === 'unauthorized') response.setHeader('www-authenticate', 'Bearer')
  const status = statuses[reason] ?? statusOf(thrown, undefined)
  sendJson(response, status === 200 ? 400 : status, { reason, message })
}
