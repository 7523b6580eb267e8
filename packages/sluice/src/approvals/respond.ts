/**
 * `approval/respond`: a decision that comes through the protocol. With `approver: 'client'` the client that asked brings
 * its human's word, on this machine only; else it takes another subject, with the scope `approvals:decide`.
 */

import type { Answer } from '../core/answer.ts'
import type { Call, Via } from '../core/call.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import { isLoopbackAddress } from '../core/loopback.ts'
import type { ExtraMethod } from '../core/plugin.ts'
import { refuseAnonymous } from './approval-layer.ts'
import { parseApproved } from './arguments.ts'
import type { ApprovalEngine } from './engine.ts'

/** Lets a caller decide for others. An agent's credential should never have it. */
const scope = 'approvals:decide'

const extension = 'dev.sluice/approvals'

/** Document 003's words. */
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
      throw new RpcError('forbidden', 'Here the client’s own word counts, so it is taken on this machine only')
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
    throw invalidParams('request_id must be the id that a call was answered with')
  const said = parseApproved(approved)
  if (said === undefined) throw invalidParams('approved must be true or false')
  if (message !== undefined && typeof message !== 'string') throw invalidParams('message must be text')
  return { id, approved: said, ...(message !== undefined && { message }) }
}

/** What proxies say: behind one on this machine everybody's address is this machine's. One that says nothing cannot be told. */
const forwardingHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-real-ip']

const isLocal = ({ transport, peer, header }: Via): boolean =>
  transport === 'stdio' ||
  transport === 'memory' ||
  (isLoopbackAddress(peer) && !forwardingHeaders.some((name) => header(name) !== undefined))
