/** Starts the measured process and reads its resource use. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

export interface ResourceUse {
  readonly rss: number
  readonly heap: number
  readonly descriptors: number
  readonly connections: number
  readonly listeners: number
  readonly underway: number
  readonly stragglers: number
  /** Sockets that the client has closed and the process has not. */
  readonly halfClosed: number
  /** Bytes of answers that clients have not read. */
  readonly unsent: number
  /** Connections closed because their client did not read. */
  readonly cut: number
  /** Bytes that the last flood had sent when it was closed. */
  readonly flooded: number
}

export interface MeasuredServer {
  readonly port: number
  measure(): Promise<ResourceUse>
  /** Measures until the condition holds; returns the last measurement in any case. */
  until(isSo: (held: ResourceUse) => boolean): Promise<ResourceUse>
  stop(): Promise<void>
}

const program = new URL('./measured-server.fixture.ts', import.meta.url).pathname

export async function startMeasuredServer(): Promise<MeasuredServer> {
  const child = spawn(process.execPath, ['--expose-gc', program], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })
  const [first] = await once(lines, 'line')
  const { url } = JSON.parse(first) as { url: string }
  const port = Number(new URL(url).port)
  async function measure(): Promise<ResourceUse> {
    const answer = once(lines, 'line')
    child.stdin.write('\n')
    return { ...JSON.parse((await answer)[0]), halfClosed: halfClosedAt(port) }
  }
  return {
    port,
    measure,
    async until(isSo) {
      for (let tries = 0; ; tries++) {
        const held = await measure()
        if (isSo(held) || tries === 200) return held
        await sleep(200)
      }
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Counts in the kernel's table: state 08 is CLOSE_WAIT. */
function halfClosedAt(port: number): number {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    return local.endsWith(suffix) && state === '08'
  }).length
}

/** Compares the tables and the descriptors, which must be as before. */
export const isBackTo = (before: ResourceUse, now: ResourceUse): boolean =>
  (['descriptors', 'connections', 'listeners', 'underway', 'stragglers', 'halfClosed'] as const).every(
    (each) => now[each] <= before[each],
  )
