/** `sluice approvals`: what agents want to do, decided from a terminal by whoever holds the data folder. */

import { audit, RpcError, surroundings } from 'sluice'
import type { Approvals, Decider, TicketStatus, TicketView } from 'sluice/approvals'
import { approvals, effectLines, markedText } from 'sluice/approvals'
import type { Config } from '../config/schema.ts'
import { owner } from '../host/identities.ts'
import { defined } from '../host/options.ts'
import type { OpenStore } from '../host/store.ts'
import { ago, CommandError, exitCodes, styled, table, toJson, wrapped } from '../output.ts'
import type { Around } from './command.ts'
import type { OperatingOptions } from './operating.ts'
import { withStore } from './operating.ts'

export interface ListOptions extends OperatingOptions {
  readonly status?: string
  readonly tenant?: string
}
export interface DecideOptions extends OperatingOptions {
  readonly note?: string
  readonly as?: string
}

interface OpenDesk {
  readonly desk: Approvals
  /** Waits for what is to be recorded. */
  close(): Promise<void>
}

/** Through the store, not through a server: whoever can open it is the operator. What they decide is recorded all the same. */
function deskOn({ store, bus }: OpenStore, config: Config): OpenDesk {
  const { webhook: _, rules, ...terms } = config.approvals
  const desk = approvals({
    ...defined(terms),
    rules: rules.map((rule) => defined({ ...rule, annotations: rule.annotations && defined(rule.annotations) })),
  })
  const around = { name: 'command', store, bus, secret: 'nothing is sealed here, so nothing is lost' }
  const kept = config.audit
    ? audit(defined({ ...config.audit, retention: undefined }))(surroundings(around))
    : undefined
  desk(surroundings({ ...around, ...(kept?.record && { record: kept.record }) }))
  return { desk, close: async () => kept?.close?.() }
}

const withDesk = (
  around: Around,
  options: OperatingOptions,
  work: (desk: Approvals) => Promise<number>,
): Promise<number> =>
  withStore(around, options, async (opened, config) => {
    const { desk, close } = deskOn(opened, config)
    try {
      return await work(desk)
    } finally {
      await close()
    }
  })

const unknown = (id: string): CommandError =>
  new CommandError(`There is no ticket ${id}, or its time is up; sluice approvals list shows them`)

export const approvalsList = (around: Around, options: ListOptions): Promise<number> =>
  withDesk(around, options, async (desk) => {
    const { terminal } = around
    const { tickets } = await desk.list(
      defined({ status: options.status as TicketStatus | undefined, tenant: options.tenant, limit: 200 }),
    )
    if (options.json) terminal.out(toJson(tickets))
    else if (tickets.length === 0) terminal.out('Nothing waits for a decision.')
    else
      terminal.out(
        table(
          terminal,
          ['ID', 'STATUS', 'TOOL', 'WHO', 'ASKED', 'ACTS ON', 'ARGUMENTS'],
          tickets.map(({ id, status, caller, tenant, server, tool, createdAt, effect, arguments: text }) => [
            id,
            status,
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

export const approvalsShow = (around: Around, id: string, options: OperatingOptions): Promise<number> =>
  withDesk(around, options, async (desk) => {
    const ticket = await desk.get(id)
    if (!ticket) throw unknown(id)
    around.terminal.out(options.json ? toJson(ticket) : described(around, ticket))
    return exitCodes.ok
  })

export const approvalsDecide = (
  around: Around,
  id: string,
  approved: boolean,
  options: DecideOptions,
): Promise<number> =>
  withDesk(around, options, async (desk) => {
    const by: Decider = { subject: options.as ?? owner, via: 'command', tenants: 'all', operator: true }
    const ticket = await desk
      .decide(id, { approved, ...defined({ note: options.note }) }, by)
      .catch((thrown: unknown) => {
        throw thrown instanceof RpcError && thrown.reason === 'approvalInvalid' ? unknown(id) : thrown
      })
    const { terminal } = around
    if (options.json) terminal.out(toJson(ticket))
    else
      terminal.out(
        `${styled(terminal, approved ? 'green' : 'red', ticket.status)} ${markedText(ticket.tool)} for ${markedText(ticket.caller.subject)}`,
      )
    return exitCodes.ok
  })

export const approvalsRules = (around: Around, options: OperatingOptions): Promise<number> =>
  withDesk(around, options, async ({ rules }) => {
    const { terminal } = around
    if (options.json) terminal.out(toJson(rules))
    else if (rules.length === 0) terminal.out('No rules: each tool says itself whether it needs an approval.')
    else for (const { place, text } of rules) terminal.out(`${place}. ${markedText(text)}`)
    return exitCodes.ok
  })

function described({ terminal }: Around, ticket: TicketView): string {
  const { id, status, caller, tenant, server, tool, description, digest, createdAt, expiresAt, decisions, previous } =
    ticket
  const rows: readonly (readonly [string, string | undefined])[] = [
    ...effectLines(ticket.effect).map((line, at) => [at === 0 ? 'Acts on' : '', line] as const),
    ['Ticket', `${id}, ${status}`],
    ['Who', `${caller.subject === tenant ? tenant : `${caller.subject} of ${tenant}`}, by ${caller.credential}`],
    ['Tool', `${server}/${tool}`],
    ['', description],
    ['Asked', `${ago(createdAt, Date.now())}, decide before ${new Date(expiresAt).toISOString()}`],
    ['Digest', digest],
    ['Before', previous && `${previous.id}: ${previous.arguments}`],
    ...decisions.map(
      ({ by, approved, note }) => [approved ? 'Approved' : 'Denied', `by ${by}${note ? `: ${note}` : ''}`] as const,
    ),
  ]
  const lines = rows.flatMap(([name, value]) =>
    value === undefined
      ? []
      : [`${styled(terminal, 'bold', name.padEnd(9))} ${wrapped(terminal, markedText(value), 10)}`],
  )
  return [...lines, '', markedText(ticket.arguments)].join('\n')
}
