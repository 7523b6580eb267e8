/**
 * A server over HTTP on a SQLite store whose write lock another process takes repeatedly: calls that write, calls that
 * only pass the rate limiter, and health checks in the meantime. Short in `npm test`, longer in `npm run soak`.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineServer, rateLimit, tool } from 'sluice'
import { createServer, nodeClock, serveHttp } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import { holdLock, watchEventLoop } from '../kit/processes/sqlite-lock.ts'

export interface HeldLockReport {
  readonly answered: number
  /** Answered with "the store is locked". */
  readonly rejected: number
  readonly checks: number
  /** While the lock was held. */
  readonly longestTurnMs: number
  /** For the same time and calls without a lock, as a baseline of this machine. */
  readonly baselineTurnMs: number
  readonly slowestAnswerMs: number
  /** Violations as sentences; empty if there are none. */
  readonly lost: readonly string[]
}

const definition = defineServer({
  name: 'held',
  version: '1.0.0',
  tools: [
    tool({
      name: 'write',
      description: 'Writes to the store',
      async run(_, { store }) {
        await store.set(['written'], 'x', 60_000)
        return 'written'
      },
    }),
    tool({ name: 'read', description: 'Needs no store of its own', run: () => 'read' }),
  ],
})

export async function heldLock(holds: number, holdMs: number): Promise<HeldLockReport> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-held-'))
  const path = join(folder, 'store.db')
  const store = sqliteStore(path)
  const server = createServer(definition, {
    ...{ store, clock: nodeClock },
    use: [rateLimit({ burst: 100_000, perSecond: 100_000 })],
  })
  const { url, close } = await serveHttp(server, { port: 0, sessions: false })
  const lost: string[] = []
  let [answered, refused, checks, longestTurnMs, usualTurnMs, slowestAnswerMs] = [0, 0, 0, 0, 0, 0]
  let ids = 0
  async function call(name: string): Promise<void> {
    const begin = performance.now()
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++ids, method: 'tools/call', params: { name } }),
    })
    const text = await response.text()
    slowestAnswerMs = Math.max(slowestAnswerMs, Math.round(performance.now() - begin))
    if (text.includes('locked by another process')) refused++
    else if (text.includes('"isError":false')) answered++
    else lost.push(`${name}: ${response.status} ${text.slice(0, 200)}`)
  }
  const healthz = new URL('/healthz', url)
  /** Makes calls and health checks for a while; resolves with the longest turn. */
  async function load(): Promise<number> {
    const turns = watchEventLoop()
    let isOver = false
    const over = sleep(holdMs).then(() => {
      isOver = true
    })
    const busy = async (name: string): Promise<void> => {
      while (!isOver) {
        await call(name)
        // The clients are in this process: without a pause they would lengthen the turns.
        await sleep(10)
      }
    }
    const check = async (): Promise<void> => {
      for (; !isOver; checks++) {
        const { status } = await fetch(healthz)
        if (status !== 200) lost.push(`/healthz answered ${status}`)
        await sleep(10)
      }
    }
    await Promise.all([over, check(), ...Array.from({ length: 20 }, (_, i) => busy(i % 2 ? 'write' : 'read'))])
    return turns.longestMs()
  }
  try {
    await call('write')
    for (let round = 0; round < holds; round++) {
      usualTurnMs = Math.max(usualTurnMs, await load())
      const lock = await holdLock(path)
      longestTurnMs = Math.max(longestTurnMs, await load())
      await lock.release()
      const before = answered
      await call('write')
      if (answered === before) lost.push('The lock was released, and a write was still refused')
    }
  } finally {
    await close()
    await store.close()
    rmSync(folder, { recursive: true })
  }
  return { answered, rejected: refused, checks, longestTurnMs, baselineTurnMs: usualTurnMs, slowestAnswerMs, lost }
}
