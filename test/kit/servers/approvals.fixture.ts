/** A server with tools that need approvals, its approvers, and a record of the effects. */

import type { Params, Server, ServerOptions, Store, Tool } from 'sluice'
import { apiKeys, ask, authenticate, defineServer, memoryStore, tenants, tool } from 'sluice'
import type { Approvals, ApprovalsOptions, Decider, TicketView } from 'sluice/approvals'
import { approvalArguments, createApprovals } from 'sluice/approvals'
import { createAudit } from 'sluice/audit'
import { createServer } from 'sluice/node'
import { elicitation, idempotency, log } from 'sluice/plugins'
import type { FakeClock } from 'sluice/testing'
import { fakeClock } from 'sluice/testing'
import { z } from 'zod'

export const operator: Decider = { subject: 'olga', via: 'console', tenants: 'all', operator: true }
export const owner: Decider = { subject: 'ann', via: 'console', tenants: ['acme'], operator: false }

export interface ApprovalsFixture {
  readonly server: Server
  readonly approvals: Approvals
  readonly clock: FakeClock
  readonly store: Store
  /** The inputs of the tools that ran. */
  readonly ran: unknown[]
  /** Calls as ann of acme by default. */
  call(name: string, args?: unknown, more?: Params): Promise<Params>
  request(method: string, params?: Params, more?: RequestOptions): Promise<Params>
  keyFor(subject: string, tenants: readonly string[], scopes?: readonly string[]): Promise<string>
}
export type ApprovalsFixtureRuntime = Omit<ServerOptions, 'clock'> & {
  readonly tools?: typeof gatedTools
  readonly clock?: FakeClock
  readonly audited?: boolean
}
export interface RequestOptions {
  readonly revision?: 'modern' | 'legacy'
  readonly capabilities?: Params
  readonly token?: string
  readonly meta?: Params
}

export const gatedTools = (ran: unknown[]): readonly Tool[] => [
  tool({
    name: 'pay',
    description: 'Pays somebody',
    title: 'Pay',
    annotations: { destructiveHint: true },
    input: z.object({ amount: z.number(), to: z.string().optional(), memo: z.string().default('none') }),
    approval: 'always',
    stateless: true,
    run(input) {
      ran.push(input)
      return `Paid ${input.amount}`
    },
  }),
  tool({
    name: 'refund',
    description: 'Gives money back',
    input: z.object({ amount: z.number() }),
    approval: 'always',
    stateless: true,
    approvalArguments,
    run(input) {
      ran.push(input)
      return `Refunded ${input.amount}`
    },
  }),
  tool({
    name: 'ship',
    description: 'Sends a parcel',
    input: z.object({ parcel: z.string() }),
    approval: 'always',
    stateless: true,
    ask: () => ({ where: ask.form('Where to?', z.object({ city: z.string() })) }),
    run({ parcel }, { answers }) {
      ran.push({ parcel, ...answers.where })
      return `Sent to ${answers.where.city}`
    },
  }),
  tool({
    name: 'count',
    description: 'Counts what is in stock',
    output: z.object({ items: z.number() }),
    approval: 'always',
    stateless: true,
    run() {
      ran.push('count')
      return { items: 3 }
    },
  }),
  tool({
    name: 'price',
    description: 'Small sums need no approval',
    input: z.object({ amount: z.number() }),
    approval: ({ amount }) => amount > 100,
    stateless: true,
    run(input) {
      ran.push(input)
      return 'ok'
    },
  }),
  tool({
    name: 'look',
    description: 'Looks',
    annotations: { readOnlyHint: true },
    run() {
      ran.push('look')
      return 'seen'
    },
  }),
]

const silent = { info() {}, warn() {}, error() {} }

export async function openApprovalsFixture(
  options: ApprovalsOptions = {},
  {
    tools = gatedTools,
    clock = fakeClock(1_700_000_000_000),
    audited = false,
    ...runtime
  }: ApprovalsFixtureRuntime = {},
): Promise<ApprovalsFixture> {
  const store = runtime.store ?? memoryStore(clock)
  const ran: unknown[] = []
  const keys = apiKeys(store, { clock })
  const audit = audited ? createAudit({ store, clock }) : undefined
  const approvals = createApprovals({ store, clock, audit, ...options })
  const server = createServer(defineServer({ name: 'shop', version: '1.0.0', tools: tools(ran) }), {
    ...runtime,
    ...{ store, clock },
    use: [
      authenticate({ verifiers: [keys] }),
      tenants({ claim: 'tenants' }),
      ...[approvals, audit, idempotency(), elicitation()],
      { ...log(silent), isDefault: true },
      ...(runtime.use ?? []),
    ],
  })
  const keyFor: ApprovalsFixture['keyFor'] = async (subject, tenants, scopes = []) =>
    (await keys.create({ subject, tenants: [...tenants], scopes: [...scopes] })).secret
  const ann = await keyFor('ann', ['acme'])
  let ids = 0
  async function request(method: string, params: Params = {}, more: RequestOptions = {}): Promise<Params> {
    const { revision = 'modern', capabilities = {}, token = ann, meta = {} } = more
    const envelope =
      revision === 'legacy'
        ? {}
        : {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': capabilities,
            'io.modelcontextprotocol/clientInfo': { name: 'agent', version: '9' },
          }
    const _meta = { ...meta, ...envelope }
    const message = { jsonrpc: '2.0', id: ++ids, method, params: { ...params, token, _meta } }
    return { ...(await server.handle(message)) }
  }
  return {
    ...{ server, clock, store, ran, request, keyFor, approvals },
    call: (name, args = {}, more = {}) => request('tools/call', { name, arguments: args }, more),
  }
}

/** Returns the ticket of a call that needs an approval. */
export function requiredIn(answer: Params): { request_id: string; message: string; url?: string } {
  const result = answer['result'] as { content?: readonly { text: string }[] } | undefined
  const required = JSON.parse(result?.content?.[0]?.text ?? '{}') as {
    approval_required?: boolean
    request_id: string
    message: string
  }
  if (required.approval_required !== true) throw new Error(`No approval is required: ${JSON.stringify(answer)}`)
  return required
}

export async function ticketOf(desk: Pick<Approvals, 'get'>, id: string): Promise<TicketView> {
  const ticket = await desk.get(id)
  if (!ticket) throw new Error(`Ticket not found: ${id}`)
  return ticket
}
