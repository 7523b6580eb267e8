/** Derives a ticket draft from a call: what a person is shown, and what the approval is bound to. */

import type { Call } from '../core/call.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { canonicalJson, digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import { isObject } from '../core/json.ts'
import { clientOf } from '../protocol/client-info.ts'
import { effectOf } from './effect.ts'
import type { RuleVerdict } from './rules.ts'
import type { Approver, Proposal } from './ticket.ts'

/** The fields of a proposal that follow from the call. The same call gives the same draft in every process. */
export type TicketDraft = Omit<Proposal, 'id' | 'createdAt' | 'expiresAt' | 'epoch' | 'slot' | 'previous' | 'task'>

export interface BindingContext {
  readonly server: string
  readonly version: string
  readonly approver: Approver
}

/** Longer calls are refused, because no person reads that much before a decision. */
const maxText = 64 * 1024

/** Makes the draft. `args` are the tool's own arguments, as received. */
export async function bindingOf(
  call: Call,
  args: unknown,
  verdict: RuleVerdict,
  context: BindingContext,
): Promise<TicketDraft> {
  const { tenant, caller, target, ready } = call
  const [text, answers] = [textOf(args), textOf(call.answers)]
  const effect = await effectOf(ready, call)
  if (text.length + answers.length + JSON.stringify(effect ?? {}).length > maxText)
    throw new RpcError(
      'payloadTooLarge',
      `Arguments too long: a call that needs an approval may have at most ${maxText} characters of arguments`,
    )
  const { server, version, approver } = context
  const { needed, of } = verdict
  const definition = digest([server, version, definitionHash(target), verdict.digest, approver])
  const entry = isObject(target.entry) ? target.entry : {}
  const client = clientName(call)
  return {
    tenant: tenant.id,
    caller: { subject: caller.subject, credential: caller.credential, ...(client !== undefined && { client }) },
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
