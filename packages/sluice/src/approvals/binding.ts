/** From a call to what a person is asked to allow, and what that permission is bound to. */

import type { Call } from '../core/call.ts'
import { definitionHash } from '../core/definition-hash.ts'
import { canonicalJson, digest } from '../core/digest.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { effectOf } from './effect.ts'
import type { RuleVerdict } from './rules.ts'
import type { Approver, Proposal } from './ticket.ts'

/** All of a proposal that follows from the call: the same call gives the same, in every process. */
export type TicketDraft = Omit<Proposal, 'id' | 'createdAt' | 'expiresAt' | 'epoch' | 'slot' | 'previous' | 'task'>

export interface BindingContext {
  readonly server: string
  readonly version: string
  readonly approver: Approver
}

/** More than a person can read is not asked for. */
const maxText = 64 * 1024

/** `args` are the tool's own, as received. */
export async function bindingOf(
  call: Call,
  args: unknown,
  verdict: RuleVerdict,
  where: BindingContext,
): Promise<TicketDraft> {
  const { tenant, caller, target, answers: given, ready } = call
  const [text, answers] = [textOf(args), textOf(given)]
  const effect = await effectOf(ready, call)
  if (text.length + answers.length + JSON.stringify(effect ?? {}).length > maxText)
    throw new RpcError(
      'payloadTooLarge',
      `Nobody can read so much: a call that needs an approval has at most ${maxText} characters of arguments`,
    )
  const { server, version, approver } = where
  const { needed, of } = verdict
  const definition = digest([server, version, definitionHash(target), verdict.digest, approver])
  const entry = isObject(target.entry) ? target.entry : {}
  const client = clientOf(call)
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
    digest: digest([args, given, effect ?? null]),
    definition,
    binding: digest([tenant.id, caller.subject, target.name, definition, args, given]),
    approver,
    needed,
    ...(of && { of }),
  }
}

/** Programs may hand in what is no JSON; nobody can be shown that. */
function textOf(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch (cause) {
    throw new RpcError('invalidParams', 'Invalid params: the arguments are not JSON', { cause })
  }
}

/** What the client calls itself, cut. It may say anything, and the page says so. */
function clientOf({ meta, via }: Call): string | undefined {
  const info: unknown = meta['io.modelcontextprotocol/clientInfo'] ?? via.connection?.state.agreed?.client
  return isObject(info) && typeof info['name'] === 'string' ? nameOf(info) : undefined
}
const nameOf = ({ name, version }: Params): string =>
  [name, version]
    .filter((part) => typeof part === 'string')
    .join(' ')
    .toWellFormed()
    .slice(0, 100)
    .toWellFormed()
