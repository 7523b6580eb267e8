/** The server with a real SBCL, and an approver who approves everything. */

import { mkdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { memoryStore } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createServer, nodeClock } from 'sluice/node'
import { elicitation, idempotency } from 'sluice/plugins'
import { testClient } from 'sluice/testing'
import { onTestFinished } from 'vitest'
import { installProgram } from '../../../test/kit/processes/programs.ts'
import { createApp } from '../src/app.ts'
import { defineLisp } from '../src/definition.ts'
import { missingPrograms } from '../src/image.ts'

export interface Answer {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: { readonly [name: string]: unknown }
}

/** Contains only compiled Swank, for all tests and runs, because compiling takes longer than all of them. */
export const folder: string = fileURLToPath(new URL('../../../node_modules/.cache/sluice-lisp', import.meta.url))

/** Installs and compiles SBCL and Swank if missing, so that no test's own time goes into that. */
export async function withSbcl(): Promise<void> {
  if (missingPrograms(process.env) !== undefined) {
    installProgram('sbcl', 'sbcl')
    installProgram('swank', 'cl-swank')
  }
  mkdirSync(folder, { recursive: true })
  const sessions = createApp({ folder, env: process.env })
  await sessions.sessionOf('warm').connect()
  await sessions.close()
}

export async function openLisp(env: Readonly<Record<string, string | undefined>> = process.env) {
  const sessions = createApp({ folder, env })
  onTestFinished(() => sessions.close())
  const store = memoryStore(nodeClock)
  const approvals = createApprovals({ store, clock: nodeClock, approver: 'client' })
  const server = createServer(defineLisp(sessions), {
    store,
    clock: nodeClock,
    use: [elicitation(), idempotency(), approvals],
  })
  const client = await testClient(server, { revision: '2025-11-25' })
  onTestFinished(() => server.close())
  /** Calls, lets the person approve if needed, and calls again. */
  async function call(name: string, args: object = {}): Promise<Answer> {
    const first = (await client.call(name, { ...args })) as unknown as Answer
    const id = requestIn(first)
    if (id === undefined) return first
    await client.request('approval/respond', { request_id: id, approved: true })
    return (await client.call(name, { ...args })) as unknown as Answer
  }
  return { call, client, sessions, server }
}

/** Returns the ticket if the call waits for an approval. */
export function requestIn({ content }: Answer): string | undefined {
  const [block] = content
  if (!block?.text.startsWith('{"approval_required":true')) return undefined
  return (JSON.parse(block.text) as { request_id: string }).request_id
}

export const textOf = ({ content }: Answer): string => content.map(({ text }) => text).join('\n')
