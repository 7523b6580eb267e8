/**
 * Sends each case on a path, and an ordinary call of the same size on the same path, and compares the cost for this
 * process: CPU of all its threads, and memory in use when the answer arrives. The client is in the same process and
 * does the same for both.
 */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Server } from 'sluice'
import type { MessagePath, MessagePathKind } from '../kit/clients/message-paths.ts'
import type { Case } from './cases.ts'
import { ordinary } from './cases.ts'

export interface Amplification extends Case {
  readonly path: string
  readonly cpuMs: number
  readonly megabytes: number
  /** The ratio to the ordinary call. */
  readonly cpu: number
  readonly memory: number
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

interface Cost {
  readonly cpuMs: number
  readonly megabytes: number
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  collect()
  const before = inUse()
  const begin = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(begin)
  return { cpuMs: (user + system) / 1000, megabytes: Math.max(0, inUse() - before) / 1e6 }
}
const inUse = (): number => {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The cheapest of several runs, because other work in the process only adds. */
async function cheapest(times: number, work: () => Promise<unknown>): Promise<Cost> {
  const costs: Cost[] = []
  for (let run = 0; run < times; run++) costs.push(await costOf(work))
  const least = (of: keyof Cost): number => Math.min(...costs.map((cost) => cost[of]))
  return { cpuMs: least('cpuMs'), megabytes: least('megabytes') }
}

/** Smaller costs are not worth an attack, and the ratio of two small numbers is meaningless. */
const floor: Cost = { cpuMs: 0.5, megabytes: 0.5 }

export async function amplificationOf(
  kind: MessagePathKind,
  open: () => Server,
  cases: readonly Case[],
  times: number,
): Promise<readonly Amplification[]> {
  const path = await kind.open(open())
  try {
    const send = (text: string, like?: Case['like']): Promise<unknown> =>
      (path satisfies MessagePath).send(Buffer.from(text), like)
    const measured: Amplification[] = []
    for (const each of cases) {
      const plain = ordinary(each.text.length)
      const like = JSON.parse(ordinary(0)) as Case['like']
      // One run before, so that neither pays for code that runs for the first time.
      await send(plain, like)
      await send(each.text, each.like)
      const baseline = await cheapest(times, () => send(plain, like))
      const worst = await cheapest(times, () => send(each.text, each.like))
      measured.push({
        ...each,
        ...worst,
        path: kind.name,
        cpu: worst.cpuMs / Math.max(floor.cpuMs, baseline.cpuMs),
        memory: worst.megabytes / Math.max(floor.megabytes, baseline.megabytes),
      })
    }
    return measured
  } finally {
    await path.close()
  }
}

export const lineOf = ({ path, method, name, text, cpuMs, megabytes, cpu, memory }: Amplification): string =>
  `${path} · ${method.slice(0, 32)} · ${name} · ${Math.round(text.length / 1000)} KB: ${cpuMs.toFixed(1)} ms (× ${cpu.toFixed(1)}), ${megabytes.toFixed(1)} MB (× ${memory.toFixed(1)})`
