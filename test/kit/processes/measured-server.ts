/** Starts the process that is knocked at, and asks it what it holds. */

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
  /** Sockets whose client has gone, and that the process has not closed. */
  readonly halfClosed: number
  /** Bytes of answers that clients have not read. */
  readonly unsent: number
  /** Connections closed because their client did not read. */
  readonly cut: number
  /** Bytes that the last flood had said when it was cut off. */
  readonly flooded: number
}

export interface MeasuredServer {
  readonly port: number
  measure(): Promise<ResourceUse>
  /** Measures until it is so; the last measure in any case. */
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
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** As the kernel counts them: state 08 is CLOSE_WAIT. */
function halfClosedAt(port: number): number {
  const own = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const rows = readFileSync('/proc/net/tcp', 'utf8').split('\n')
  return rows.filter((row) => {
    const [, local = '', , state] = row.trim().split(/\s+/)
    return local.endsWith(own) && state === '08'
  }).length
}

/** The tables, the descriptors: what must be as it was. */
export const isBackTo = (before: ResourceUse, now: ResourceUse): boolean =>
  (['descriptors', 'connections', 'listeners', 'underway', 'stragglers', 'halfClosed'] as const).every(
    (each) => now[each] <= before[each],
  )
