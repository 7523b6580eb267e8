/**
 * An audit of 150,000 rows on SQLite, exported and verified through the console, then pruned: the longest event-loop
 * turn of each, which delays every other call of the process.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConsole } from '@sluice/console'
import type { Store } from 'sluice'
import { defineServer, memoryStore } from 'sluice'
import { createAudit, pruneAudit } from 'sluice/audit'
import { createServer, nodeClock } from 'sluice/node'
import { sqliteStore } from 'sluice/sqlite'
import { createChain } from '../../../packages/sluice/src/observe/chain.ts'
import { watchEventLoop } from '../event-loop-watch.ts'
import type { Soak } from '../soak.ts'

const tenant = 'acme'
const secret = 'a secret of at least sixteen characters'
const longestAllowed = 50

export const run: Soak = async ({ times, progress }) => {
  const rows = times(150_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-turns-'))
  const store = sqliteStore(join(folder, 'audit.db'))
  await fill(store, rows)
  progress(`audit-turns: ${rows} rows are there`)
  const audit = createAudit({ store })
  const panel = createConsole({ store, clock: nodeClock, audit })
  const info = { name: 'turns', version: '1' }
  const server = createServer(defineServer({ ...info }), { store, secret, use: [audit, panel.watch] })
  const serving = await panel.listen({ port: 0 })
  const { secret: key } = await panel.operators.create({ name: 'auditor', scopes: ['audit:export'] })
  const lost: string[] = []
  const counted: Record<string, number> = { rows }
  const measure = async (what: string, work: () => Promise<string | undefined>): Promise<void> => {
    const turns = watchEventLoop()
    const problem = await work()
    const { cpuMs, wallMs } = turns.stop()
    progress(`audit-turns: ${what} kept the loop for ${cpuMs} ms at most`)
    counted[`ms the longest turn of ${what}`] = cpuMs
    counted[`ms of it by the wall clock`] = Math.max(counted[`ms of it by the wall clock`] ?? 0, wallMs)
    if (problem !== undefined) lost.push(`${what}: ${problem}`)
    if (cpuMs > longestAllowed) lost.push(`${what} kept the loop for ${cpuMs} ms, and ${longestAllowed} are allowed`)
  }
  await measure('export', async () => {
    const lines = await linesOf(`${serving.url}api/audit/export?tenant=${tenant}`, key, 'GET')
    return lines === rows ? undefined : `${lines} lines came, and ${rows} should`
  })
  await measure('verify', async () => {
    const lines = await linesOf(`${serving.url}api/audit/verify`, key, 'POST')
    return lines === 0 ? undefined : 'it is not intact'
  })
  await measure('prune', async () => {
    const { removed } = await pruneAudit(store, tenant, {
      ...{ maxBytes: 1_000_000, secrets: () => [secret], clock: nodeClock, writer: 'soak', by: 'soak' },
    })
    return removed > 0 ? undefined : 'nothing was removed'
  })
  await serving.close()
  await server.close()
  await store.close()
  rmSync(folder, { recursive: true, force: true })
  return { counted, lost }
}

/** One record per row. Chained in memory and copied, because a commit for each would take minutes. */
async function fill(store: Store, rows: number): Promise<void> {
  const made = memoryStore()
  const append = createChain(made, tenant, 'soak')
  for (let n = 0; n < rows; n++) await append([{ at: n, kind: 'ended', call: `call-${n}`, text: 'x'.repeat(700) }])
  for (let after: readonly string[] | undefined; ; ) {
    const page = await made.list(['audit'], { limit: 5_000, ...(after && { after }) })
    await Promise.all(page.map(({ key, value }) => store.set(key, value)))
    after = page.at(-1)?.key
    if (page.length < 5_000) return
  }
}

/**
 * Requested by a separate process, whose work is not counted. Returns the number of lines, or -1 if it was refused or
 * not intact.
 */
async function linesOf(url: string, key: string, method: string): Promise<number> {
  const program = `
    const [, url, key, method] = process.argv
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' }
    const body = method === 'POST' ? '{"tenant":"${tenant}"}' : undefined
    const reply = await fetch(url, { method, headers, ...(body && { body }) })
    let lines = 0
    let text = ''
    for await (const chunk of reply.body) {
      for (const byte of chunk) if (byte === 10) lines++
      if (body) text += new TextDecoder().decode(chunk)
    }
    console.log(reply.ok && !text.includes('"intact":false') ? lines : -1)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, url, key, method], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  await once(child, 'close')
  return Number(out)
}
