/** Long work as tasks: a call that is answered before its work is done, asks in the middle, and waits for an approval. */

import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import type { Params } from 'sluice'
import { ask, defineServer, memoryStore, tool } from 'sluice'
import { createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { log, tasks } from 'sluice/plugins'
import { z } from 'zod'

const importRows = tool({
  name: 'import_rows',
  description: 'Imports rows',
  input: z.object({ rows: z.number() }),
  // Clients that know tasks get one if this takes longer than a fifth of a second. Others wait, up to the deadline.
  task: 'auto',
  taskAfterMs: 200,
  async run({ rows }, { progress, signal }) {
    for (let row = 1; row <= rows; row++) {
      // Cancelled: the signal aborts, and the work ends here.
      await setTimeout(10, undefined, { signal })
      progress(row, rows, `${row} of ${rows} rows`)
    }
    return `Imported ${rows} rows`
  },
})

const rename = tool({
  name: 'rename_all',
  description: 'Renames files, and asks about those that exist',
  task: 'always',
  async run(_input, context) {
    const { overwrite } = await context.ask({
      overwrite: ask.form('notes.md exists. Overwrite it?', z.object({ yes: z.boolean() })),
    })
    return overwrite.yes ? 'Renamed, one file overwritten' : 'Renamed, one file left'
  },
})

const wipe = tool({
  name: 'wipe',
  description: 'Deletes everything',
  approval: 'always',
  stateless: true,
  run: () => 'Wiped',
})

const store = memoryStore()
const approvals = createApprovals({ store })
const server = createServer(defineServer({ name: 'archive', version: '1.0.0', tools: [importRows, rename, wipe] }), {
  store,
  use: [tasks(), approvals, log({ info() {}, warn: console.warn, error: console.error })],
})

/** A client of 2026-07-28 says with each request that it knows tasks. */
async function request(method: string, params: Params): Promise<Params> {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {
      extensions: { 'io.modelcontextprotocol/tasks': {} },
      elicitation: { form: {} },
    },
  }
  const answer = await server.handle({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })
  return (answer as { result: Params }).result
}
/** Looks until the task has this status. */
async function reach(taskId: unknown, status: string): Promise<Params> {
  for (;;) {
    const task = await request('tasks/get', { taskId })
    if (task['status'] === status) return task
    await setTimeout(10)
  }
}
const textIn = ({ result }: Params): string =>
  (result as { content: readonly { text: string }[] } | undefined)?.content[0]?.text ?? ''

const short = await request('tools/call', { name: 'import_rows', arguments: { rows: 1 } })
assert.equal(short['resultType'], 'complete')

const long = await request('tools/call', { name: 'import_rows', arguments: { rows: 100 } })
assert.equal(long['resultType'], 'task')
assert.match(textIn(await reach(long['taskId'], 'completed')), /100 rows/)

const renaming = await request('tools/call', { name: 'rename_all', arguments: {} })
const asking = await reach(renaming['taskId'], 'input_required')
const [key = ''] = Object.keys(asking['inputRequests'] as Params)
const inputResponses = { [key]: { action: 'accept', content: { yes: false } } }
await request('tasks/update', { taskId: renaming['taskId'], inputResponses })
assert.match(textIn(await reach(renaming['taskId'], 'completed')), /one file left/)

// The decision writes the ticket; the caller's next look runs the call.
const wiping = await request('tools/call', { name: 'wipe', arguments: {} })
assert.equal(wiping['statusMessage'], 'Waiting for approval')
const [ticket] = (await approvals.list({ status: 'pending' })).tickets
await approvals.decide(
  ticket?.id ?? '',
  { approved: true },
  { subject: 'olga', via: 'console', tenants: 'all', operator: true },
)
assert.equal(textIn(await reach(wiping['taskId'], 'completed')), 'Wiped')

await server.close()
