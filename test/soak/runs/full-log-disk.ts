/**
 * A log that cannot be written stops nothing: `/dev/full`, a pipe that is never read, and a disk that fills while calls
 * run, with data and log. Every call gets an answer, `/healthz` answers at once, and SIGTERM ends the process.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bearer, type Client, ClientError, connect, httpTransport, ServerError } from 'sluice/client'
import type * as z from 'zod'
import type { configSchema } from '../../../packages/cli/src/config/schema.ts'
import { mountSmallDisk } from '../../kit/processes/small-disk.ts'
import type { Soak } from '../soak.ts'

const main = fileURLToPath(new URL('../../../packages/cli/bin/sluice.js', import.meta.url))

/** A client would have given up after this time: the deadline of a call is 30 s. */
const maxCallMs = 30_000
const maxHealthMs = 2_000
/** 5 s for a balancer to notice, 10 s for calls, and a margin. */
const maxStopMs = 20_000

interface Counted {
  calls: number
  errors: number
  slowestMs: number
  slowestHealthMs: number
  stopMs: number
}

export const run: Soak = async ({ times, progress }) => {
  const lost: string[] = []
  const counted: { [what: string]: number } = {}
  const closing: (() => unknown)[] = []
  const disk = mountSmallDisk(closing)
  try {
    for (const [name, folder, log] of [
      ['/dev/full', undefined, '/dev/full'],
      ['a pipe that is never read', undefined, undefined],
      ...(disk === undefined ? [] : [['a disk of 1 MB', disk, join(disk, 'sluice.log')] as const]),
    ] as const) {
      progress(`full-log-disk: ${name}`)
      const found = await on(name, folder, log, times(3_000), lost)
      counted[`calls with the log on ${name}`] = found.calls
      counted['of them answered with an error'] = (counted['of them answered with an error'] ?? 0) + found.errors
      counted['ms the slowest call'] = Math.max(counted['ms the slowest call'] ?? 0, found.slowestMs)
      counted['ms the slowest /healthz'] = Math.max(counted['ms the slowest /healthz'] ?? 0, found.slowestHealthMs)
      counted['ms until SIGTERM ended it'] = Math.max(counted['ms until SIGTERM ended it'] ?? 0, found.stopMs)
    }
  } finally {
    for (const close of closing.reverse()) close()
  }
  return { counted, lost }
}

async function on(
  name: string,
  disk: string | undefined,
  log: string | undefined,
  calls: number,
  lost: string[],
): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-log-disk-'))
  const config: z.input<typeof configSchema> = {
    admission: null,
    rateLimit: null,
    ...(log !== undefined && { log: { file: log } }),
  }
  writeFileSync(join(folder, 'sluice.config.json'), JSON.stringify(config))
  const data = disk ?? join(folder, 'data')
  const args = ['serve', 'memory', '--http', '--port', '0', '--console-port', '0', '--data', data]
  // Its stderr is a pipe that is not read after the listening address.
  const child = spawn(process.execPath, [main, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  const counted: Counted = { calls: 0, errors: 0, slowestMs: 0, slowestHealthMs: 0, stopMs: 0 }
  try {
    const { url, key } = await placeOf(child)
    const client = await connect(httpTransport(url, { authorization: bearer(key) }))
    const health = new URL('healthz', url).href
    for (let n = 0; n < calls; n++) {
      counted.slowestMs = Math.max(counted.slowestMs, await timed(() => call(client, n, counted, lost)))
      counted.calls++
      if (n % 100 === 0) {
        const ms = await timed(async () => {
          await fetch(health, { signal: AbortSignal.timeout(maxHealthMs) }).catch((thrown: unknown) => {
            lost.push(`${name}: /healthz did not answer after ${n} calls: ${String(thrown)}`)
          })
        })
        counted.slowestHealthMs = Math.max(counted.slowestHealthMs, ms)
      }
    }
    counted.stopMs = await timed(() => stop(child, name, lost))
    return counted
  } finally {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Long texts, so that a small disk fills soon. A refusal is an answer; a broken connection or a timeout is not. */
async function call(client: Client, n: number, counted: Counted, lost: string[]): Promise<void> {
  const text = `memory ${n} ${'of an elephant '.repeat(20)}`
  const signal = AbortSignal.timeout(maxCallMs)
  try {
    const result = await client.request('tools/call', { name: 'add_memory', arguments: { text } }, { signal })
    if (result['isError'] === true) counted.errors++
  } catch (thrown) {
    if (thrown instanceof ServerError || (thrown instanceof ClientError && thrown.status !== undefined))
      counted.errors++
    else lost.push(`Call ${n} got no answer: ${String(thrown)}`)
  }
}

async function stop(child: ChildProcess, name: string, lost: string[]): Promise<void> {
  const exited = new Promise<'ended'>((resolve) => child.once('exit', () => resolve('ended')))
  child.kill('SIGTERM')
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, maxStopMs, 'late')
  })
  if ((await Promise.race([exited, late])) === 'late') lost.push(`${name}: SIGTERM had no effect`)
  clearTimeout(timer)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return Math.round(performance.now() - began)
}

async function placeOf({ stderr }: ChildProcess): Promise<{ readonly url: string; readonly key: string }> {
  let said = ''
  for await (const chunk of stderr?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk)
    const [, url, file] = /memory on (\S+)[\s\S]*Your key: in (\S+)[\s\S]*#/.exec(said) ?? []
    if (url !== undefined && file !== undefined) {
      const { you: key } = JSON.parse(readFileSync(file, 'utf8')) as { you: string }
      return { url, key }
    }
  }
  throw new Error(`It ended before it listened: ${said}`)
}
