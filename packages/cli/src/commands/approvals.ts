/** `sluice approvals`: lists and decides tickets from a terminal. Access to the data folder makes a person an operator. */

import { RpcError } from 'sluice'
import type { Approvals, Decider, TicketStatus } from 'sluice/approvals'
import { createApprovals, effectLines, markedText } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { owner } from '../host/identities.ts'
import { omitUndefined } from '../host/omit-undefined.ts'
import { ago, CommandError, exitCodes, plural, shortId, styled, table, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'
import { describeTicket } from './describe-ticket.ts'
import type { StoreCommandOptions } from './with-store.ts'
import { withStore } from './with-store.ts'

export interface ListOptions extends StoreCommandOptions {
  readonly status?: string
  readonly tenant?: string
}
export interface DecideOptions extends StoreCommandOptions {
  readonly note?: string
  readonly as?: string
}

/** Works on the store, not through a server: a person who can open the store is its operator. Decisions are recorded. */
export async function withApprovals(
  context: CommandContext,
  options: StoreCommandOptions,
  work: (approvals: Approvals) => Promise<number>,
): Promise<number> {
  return withStore(context, options, async ({ store, bus }, config) => {
    const { webhook: _, waitMs: _1, grants, rules, ...terms } = config.approvals
    const audit = config.audit
      ? createAudit({ ...omitUndefined({ ...config.audit, retention: undefined }), store })
      : undefined
    const approvals = createApprovals({
      ...omitUndefined(terms),
      ...(grants && { grants }),
      ...{ store, bus, audit },
      rules: rules.map((rule) =>
        omitUndefined({ ...rule, annotations: rule.annotations && omitUndefined(rule.annotations) }),
      ),
    })
    try {
      return await work(approvals)
    } finally {
      approvals.close()
      await audit?.close()
    }
  })
}

/** A shorter prefix would name another ticket as soon as one is added. */
const minPrefix = 4

/** Returns the complete id of a ticket that is named by its id or by the beginning of it. */
async function completeId(approvals: Approvals, id: string): Promise<string> {
  if (id.length < minPrefix || (await approvals.get(id))) return id
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await approvals.list(omitUndefined({ limit: 200, after }))
    found.push(...page.tickets.map((ticket) => ticket.id).filter((each) => each.startsWith(id)))
    after = page.next
  } while (after !== undefined && found.length < 2)
  if (found.length > 1) throw new CommandError(`Several tickets begin with ${id}. Give more of the id.`)
  return found[0] ?? id
}

const unknownTicket = (id: string): CommandError =>
  new CommandError(`Ticket ${id} does not exist or has expired. Run sluice approvals list to see the tickets.`)

export const approvalsList = (context: CommandContext, options: ListOptions): Promise<number> =>
  withApprovals(context, options, async (approvals) => {
    const { terminal } = context
    const { tickets } = await approvals.list(
      omitUndefined({ status: options.status as TicketStatus | undefined, tenant: options.tenant, limit: 200 }),
    )
    if (options.json) terminal.out(toJson(tickets))
    else if (tickets.length === 0) terminal.out('No tickets.')
    else
      terminal.out(
        table(
          terminal,
          ['ID', 'STATUS', 'TOOL', 'CALLER', 'REQUESTED', 'ACTS ON', 'ARGUMENTS'],
          tickets.map(({ id, status, questions, caller, tenant, server, tool, createdAt, effect, arguments: text }) => [
            shortId(id),
            questions ? `${status}, ${plural(questions.length, 'question')}` : status,
            markedText(`${server}/${tool}`),
            markedText(caller.subject === tenant ? tenant : `${caller.subject}@${tenant}`),
            ago(createdAt, Date.now()),
            markedText(effectLines(effect).join(', ')).slice(0, 120),
            markedText(text).slice(0, 120),
          ]),
        ),
      )
    return exitCodes.ok
  })

export const approvalsShow = (context: CommandContext, id: string, options: StoreCommandOptions): Promise<number> =>
  withApprovals(context, options, async (approvals) => {
    const ticket = await approvals.get(await completeId(approvals, id))
    if (!ticket) throw unknownTicket(id)
    context.terminal.out(options.json ? toJson(ticket) : describeTicket(context.terminal, ticket))
    return exitCodes.ok
  })

export const approvalsDecide = (
  context: CommandContext,
  id: string,
  approved: boolean,
  options: DecideOptions,
): Promise<number> =>
  withApprovals(context, options, async (approvals) => {
    const by: Decider = { subject: options.as ?? owner, via: 'command', tenants: 'all', operator: true }
    const ticket = await approvals
      .decide(await completeId(approvals, id), { approved, ...omitUndefined({ note: options.note }) }, by)
      .catch((thrown: unknown) => {
        throw thrown instanceof RpcError && thrown.reason === 'approvalInvalid' ? unknownTicket(id) : thrown
      })
    const { terminal } = context
    if (options.json) terminal.out(toJson(ticket))
    else
      terminal.out(
        `${styled(terminal, approved ? 'green' : 'red', ticket.status)} ${markedText(ticket.tool)} for ${markedText(ticket.caller.subject)}`,
      )
    return exitCodes.ok
  })

export const approvalsRules = (context: CommandContext, options: StoreCommandOptions): Promise<number> =>
  withApprovals(context, options, async ({ rules }) => {
    const { terminal } = context
    if (options.json) terminal.out(toJson(rules))
    else if (rules.length === 0) terminal.out('No rules. Each tool states whether it needs an approval.')
    else for (const { place, text } of rules) terminal.out(`${place}. ${markedText(text)}`)
    return exitCodes.ok
  })
