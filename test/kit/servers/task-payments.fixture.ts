/**
 * A server whose payments are tasks, and whose effects are lines in a file: one asks while it works, one needs an
 * approval. Programs start with it, so it imports the built library.
 */

import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Params, Server, Store, Tool } from 'sluice'
import { ask, defineServer, tool } from 'sluice'
import type { Approvals } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { log, tasks } from 'sluice/plugins'
import { z } from 'zod'

export interface TaskPayments {
  readonly approvals: Approvals
  readonly server: Server
  send(method: string, params: Params, options?: SendOptions): Promise<Params>
  /** Looks until the task has this status or has ended. Resolves with the last look. */
  reach(taskId: string, status: string): Promise<Params>
}
/** Without tasks the call is parked while it asks. */
export interface SendOptions {
  readonly tasks?: boolean
  readonly key?: string
}
export interface TaskPaymentsOptions {
  readonly folder: string
  /** Called before and after each effect. */
  readonly at?: (point: string) => void
}

/** The call of a life that is parked, without tasks: plain, under a key, or after an approval. */
export const parkedCallOf = (
  kind: string,
  amount: number,
): { readonly call: { readonly name: string; readonly arguments: Params }; readonly options: SendOptions } => ({
  call: { name: kind === 'parked after an approval' ? 'approved-parking' : 'parking', arguments: { amount } },
  options: { tasks: false, ...(kind === 'parked under a key' && { key: `key-${amount}` }) },
})

const form = { elicitation: { form: {} } }
const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} }, elicitation: { form: {} } }
const final = ['completed', 'failed', 'cancelled']
const amountOf = z.object({ amount: z.number() })

export function openTaskPayments(store: Store, { folder, at = () => {} }: TaskPaymentsOptions): TaskPayments {
  const approvals = createApprovals({ store, maxPending: 100_000 })
  function pay(amount: number): string {
    at('before effect')
    appendFileSync(join(folder, 'effects'), `${amount}\n`)
    at('after effect')
    return `paid ${amount} by ${process.pid}`
  }
  const asking = tool({
    name: 'asking',
    description: 'Asks, then pays',
    input: amountOf,
    task: 'always',
    async run({ amount }, context) {
      await context.ask({ sure: ask.form('Sure?', z.object({ yes: z.boolean() })) })
      return pay(amount)
    },
  })
  const asksWhileRunning = (name: string, approval: 'never' | 'always'): Tool =>
    tool({
      ...{ name, description: 'Asks while it runs, then pays', input: amountOf, approval, stateless: true },
      asksWhileRunning: true,
      async run({ amount }, { call }) {
        // As the gateway relays the question of an upstream, which may ask after an approval too.
        await call.park?.ask({ sure: ask.form('Sure?', z.object({ yes: z.boolean() })) })
        return pay(amount)
      },
    })
  const parking = [asksWhileRunning('parking', 'never'), asksWhileRunning('approved-parking', 'always')]
  const gated = tool({
    name: 'gated',
    description: 'Pays after an approval',
    input: amountOf,
    approval: 'always',
    stateless: true,
    run: ({ amount }) => pay(amount),
  })
  const server = createServer(defineServer({ name: 'till', version: '1', tools: [asking, ...parking, gated] }), {
    store,
    secret: 'a secret that all processes share',
    use: [log({ info() {}, warn() {}, error() {} }), approvals, tasks({ perCaller: 1_000_000 })],
  })
  let ids = 0
  async function send(
    method: string,
    params: Params,
    { tasks: isTask = true, key }: SendOptions = {},
  ): Promise<Params> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': isTask ? capabilities : form,
      ...(key !== undefined && { 'dev.sluice/idempotencyKey': key }),
    }
    const message = { jsonrpc: '2.0', id: ++ids, method, params: { ...params, _meta } }
    const { result, error }: Params = { ...(await server.handle(message)) }
    return (result ?? error) as Params
  }
  return {
    approvals,
    server,
    send,
    async reach(taskId, status) {
      for (;;) {
        const task = await send('tasks/get', { taskId })
        const now = String(task['status'])
        if (task['status'] === undefined || now === status || final.includes(now)) return task
        await setTimeout(1)
      }
    },
  }
}
