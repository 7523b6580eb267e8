/**
 * `approval/respond`: a decision that comes through the protocol. With `approver: 'client'` the calling client reports
 * its user's decision, on this machine only. Otherwise another subject with the scope `approvals:decide` must decide.
 */

import type { Answer } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { ExtraMethod } from '../core/plugin.ts'
import { refuseAnonymous } from './approval-layer.ts'
import { parseApproved } from './arguments.ts'
import type { ApprovalEngine } from './engine.ts'
import { isLocal } from './local-caller.ts'

/** The scope that lets a caller decide for others. An agent's credential should never have it. */
const scope = 'approvals:decide'

const extension = 'dev.sluice/approvals'

/** The wording that existing clients expect (docs/documents.md#003). */
const denialMessage = 'User denied approval. You can retry by invoking the tool again.'

export const respond = (engine: Pick<ApprovalEngine, 'approver' | 'decide'>): ExtraMethod => ({
  name: 'approval/respond',
  extension,
  scopes: engine.approver === 'client' ? [] : [scope],
  async run(call): Promise<Answer> {
    const { id, approved, message } = parse(call)
    refuseAnonymous(call)
    const { caller, tenant, via } = call
    if (engine.approver === 'client' && !isLocal(via))
      throw new RpcError('forbidden', 'With "approver" set to "client", decisions are accepted only from this machine')
    await engine.decide(
      id,
      { approved, ...(message !== undefined && { note: message }) },
      {
        subject: caller.subject,
        credential: caller.credential,
        via: 'protocol',
        tenants: [tenant.id],
        operator: caller.scopes.has(scope),
      },
    )
    call.facts['ticket'] = id
    return { recorded: true, approved, ...(!approved && { message: message ?? denialMessage }) }
  },
})

function parse({ params }: Call): { id: string; approved: boolean; message?: string } {
  const { request_id: id, approved, message } = params
  if (typeof id !== 'string' || id === '' || id.length > 256)
    throw invalidParams('request_id must be the id from the answer to a call')
  const parsed = parseApproved(approved)
  if (parsed === undefined) throw invalidParams('approved must be true or false')
  if (message !== undefined && typeof message !== 'string') throw invalidParams('message must be a string')
  return { id, approved: parsed, ...(message !== undefined && { message }) }
}
