/** The server of docs/on-the-wire.md: a plain tool, a tool that asks, and a tool that a person must approve. */

import { apiKeys, ask, authenticate, defineServer, memoryStore, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import type { HttpServing } from 'sluice/node'
import { createServer, serveHttp } from 'sluice/node'
import * as z from 'zod'
import { hello } from './hello.ts'

const deploy = tool({
  name: 'deploy',
  description: 'Deploys a service',
  input: z.object({ service: z.string() }),
  ask: () => ({ where: ask.form('Which region?', z.object({ region: z.enum(['eu', 'us']) })) }),
  run: ({ service }, { answers }) => `${service} is in ${answers.where.region}`,
})
const transfer = tool({
  name: 'transfer',
  description: 'Transfers money',
  input: z.object({ to: z.string(), amount: z.number().positive() }),
  approval: 'always',
  stateless: true,
  run: ({ to, amount }) => `Transferred ${amount} to ${to}`,
})

export interface WireExample {
  readonly serving: HttpServing
  /** The key of an agent, which may call. */
  readonly agent: string
  /** The key of a person's program, which may decide for others. */
  readonly person: string
}

export async function openWireExample(port = 3000): Promise<WireExample> {
  const store = memoryStore()
  const keys = apiKeys(store)
  const definition = defineServer({ name: 'wire', version: '1.0.0', tools: [...(hello.tools ?? []), deploy, transfer] })
  const server = createServer(definition, {
    store,
    use: [authenticate({ verifiers: [keys] }), createApprovals({ store, approver: 'other' })],
  })
  const serving = await serveHttp(server, { port })
  const { secret: agent } = await keys.create({ subject: 'agent' })
  const { secret: person } = await keys.create({ subject: 'ann', scopes: ['approvals:decide'] })
  return { serving, agent, person }
}

if (import.meta.main) {
  const { agent, person } = await openWireExample()
  console.log(`export AGENT=${agent} PERSON=${person}`)
}
