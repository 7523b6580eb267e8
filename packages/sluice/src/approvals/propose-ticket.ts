/** Makes the ticket of a call: what a person is shown, and what the approval is bound to. */

import type { Call } from '../core/call.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { canonicalJson, digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { clientOf } from '../protocol/client-info.ts'
import { effectOf } from './effect.ts'
import type { RuleVerdict } from './policy/rules.ts'
import type { SharedApprovals } from './service.ts'
import type { Approver, Proposal } from './ticket.ts'

/** The fields of a proposal that follow from the call. The same call gives the same draft in every process. */
export type TicketDraft = Omit<
  Proposal,
  'id' | 'createdAt' | 'sequence' | 'expiresAt' | 'epoch' | 'slot' | 'previous' | 'task'
>

/** Longer calls are refused, because no person reads that much before a decision. */
const maxText = 64 * 1024

/** Derives the draft of a ticket from a call. `args` are the tool's own arguments, as received. */
export async function draftOf(
  call: Call,
  args: unknown,
  verdict: RuleVerdict,
  { server, version, approver }: { readonly server: string; readonly version: string; readonly approver: Approver },
): Promise<TicketDraft> {
  const { tenant, caller, target, ready } = call
  const [text, answers] = [textOf(args), textOf(call.answers)]
  const effect = await effectOf(ready, call)
  if (text.length + answers.length + JSON.stringify(effect ?? {}).length > maxText)
    throw new RpcError(
      'payloadTooLarge',
      `Arguments too long: a call that needs an approval may have at most ${maxText} characters of arguments`,
    )
  const { needed, of } = verdict
  const definition = digest([server, version, definitionHash(target), verdict.digest, approver])
  const entry = isObject(target.entry) ? target.entry : {}
  const client = clientName(call)
  const { by } = call.facts
  return {
    tenant: tenant.id,
    caller: {
      ...{ subject: caller.subject, credential: caller.credential },
      ...(client !== undefined && { client }),
      ...(typeof by === 'string' && { by }),
    },
    server,
    tool: target.name,
    ...(typeof entry['title'] === 'string' && { title: entry['title'] }),
    description: typeof entry['description'] === 'string' ? entry['description'] : '',
    annotations: isObject(entry['annotations']) ? entry['annotations'] : {},
    arguments: text,
    answers,
    ...(effect && { effect }),
    digest: digest([args, call.answers, effect ?? null]),
    definition,
    binding: digest([tenant.id, caller.subject, target.name, definition, args, call.answers]),
    approver,
    needed,
    ...(of && { of }),
    ...(verdict.text !== undefined && { rule: verdict.text }),
  }
}

/** Refuses values that are not JSON, which programs can pass in, because they cannot be shown to a person. */
function textOf(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch (cause) {
    throw new RpcError('invalidParams', 'Invalid params: the arguments are not JSON', { cause })
  }
}

/** Returns the name that the client claims. It is unverified, and the page says so. */
function clientName(call: Call): string | undefined {
  const { name, version } = clientOf(call)
  return name === undefined ? undefined : [name, ...(version === undefined ? [] : [version])].join(' ').toWellFormed()
}

/**
 * Makes the ticket and announces it to people. `replaces` is the ticket of the same call that it replaces, and `task`
 * waits for the decision. Resolves with `undefined` if another process made a ticket of the same call meanwhile.
 */
export async function proposeTicket(
  { ticketStore, time, times, maxPending, record, announce, notifyChange }: SharedApprovals,
  draft: TicketDraft,
  replaces: string | undefined,
  task: string | undefined,
): Promise<Proposal | undefined> {
  const id = crypto.randomUUID()
  const { tenant, caller } = draft
  const slot = await ticketStore.takeSlot(tenant, caller.subject, id, maxPending)
  if (slot === undefined)
    throw new RpcError(
      'rateLimited',
      `Too many calls wait for an approval: at most ${maxPending} per caller. Wait until some are decided`,
      { data: { retryAfterMs: 60_000 } },
    )
  const [previous, { at, epoch }] = await Promise.all([ticketStore.lastApproved(draft), time.now()])
  const proposal: Proposal = {
    ...draft,
    id,
    slot,
    ...(task !== undefined && { task }),
    createdAt: at,
    sequence: ticketStore.nextSequence(at),
    expiresAt: at + times.decideMs,
    epoch,
    ...(previous !== undefined && { previous }),
  }
  if (!(await ticketStore.add(proposal, replaces))) return undefined
  time.advanceAfter(proposal.expiresAt + times.runMs)
  const { tool, digest, definition } = draft
  record(tenant, 'proposed', { ticket: id, tool, caller: caller.subject, digest, definition })
  await announce(proposal)
  notifyChange(id, 'pending')
  return proposal
}
