/**
 * A process that does the work of its keys, and dies at a chosen point. Each effect is a line in a file, each answer a
 * line on stdout.
 *
 * worker.ts <directory> <point to die at, or "-"> <ms the clock is ahead> <key>…
 */

import { createHash } from 'node:crypto'
import { appendFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Handler } from '../../../packages/sluice/src/core/call.ts'
import { RpcError } from '../../../packages/sluice/src/core/error.ts'
import { silentLogger } from '../../../packages/sluice/src/core/log.ts'
import type { Store } from '../../../packages/sluice/src/core/store.ts'
import { idempotencyLayer } from '../../../packages/sluice/src/layers/idempotency.ts'
import { postgresStore } from '../../../packages/sluice/src/stores/postgres.ts'
import { sqliteStore } from '../../../packages/sluice/src/stores/sqlite.ts'
import { aCall, asyncPipeline } from '../../../packages/sluice/src/testing/call.ts'

const [directory = '', point = '-', ahead = '0', ...keys] = process.argv.slice(2)
const at = (name: string): void => {
  if (point === name) process.kill(process.pid, 'SIGKILL')
}
/** Lets the other running calls continue, as real work does. Some take longer, so that not all end in the same turn. */
async function elsewhere(key: string): Promise<void> {
  for (let turns = 1 + keys.indexOf(key) * 20; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve))
}

const url = process.env['STORE_URL'] ?? ''
// A schema for each directory: what other rounds left is not read.
const schema = `s${createHash('sha256').update(directory).digest('hex').slice(0, 16)}`
const clock = { now: () => Date.now() + Number(ahead), after: () => () => {} }
const files: Store = url
  ? postgresStore({ url, schema, deadlineMs: 20_000 })
  : sqliteStore(join(directory, 'store.db'), { clock })
let swaps = 0
const store: Store = {
  ...files,
  async swap(key, from, to) {
    const which = ++swaps === 1 ? 'claim' : 'record'
    at(`before ${which}`)
    const won = await files.swap(key, from, to)
    at(`after ${which}`)
    return won
  },
}

const work: Handler = async ({ meta }) => {
  const key = String(meta['dev.sluice/idempotencyKey'])
  at('before effect')
  await elsewhere(key)
  appendFileSync(join(directory, 'effects'), `${key}\n`)
  if (point === 'exit') process.exit(3)
  if (point === 'throw in a timer')
    await new Promise(() => {
      setTimeout(() => {
        throw new Error('in a timer')
      })
    })
  if (point === 'unhandled rejection') {
    // oxlint-disable-next-line typescript/no-floating-promises -- the crash that this fixture is for
    Promise.reject(new Error('nobody listens'))
    await new Promise(() => setTimeout(() => {}, 60_000))
  }
  at('after effect')
  await elsewhere(key)
  return { content: [{ type: 'text', text: `by ${process.pid}` }] }
}

const serve = asyncPipeline(
  [idempotencyLayer(store, { clock, logger: silentLogger, newErrorId: () => crypto.randomUUID() })],
  work,
)

let answered = 0
async function answer(key: string): Promise<void> {
  const call = aCall({ meta: { 'dev.sluice/idempotencyKey': key }, facts: {} })
  const said = await serve(call).catch((thrown: unknown) =>
    thrown instanceof RpcError ? { reason: thrown.reason, ...thrown.data } : { bug: String(thrown) },
  )
  // Written synchronously, because an answer that the other end has read counts as acknowledged.
  writeSync(1, `${JSON.stringify({ key, said })}\n`)
  at(`after ${++answered} answers`)
}
await Promise.all(keys.map(answer))
process.exit(0)
