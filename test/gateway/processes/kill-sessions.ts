/**
 * Sessions through a gateway in front of process upstreams, while upstream processes and the gateway itself are killed.
 * Counts the calls that ran twice, the answered calls that did not run, and the processes that are left.
 */

import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'sluice/client'
import { connect, httpTransport } from 'sluice/client'
import { createNodeSender } from 'sluice/client-node'
import { type Child, startChild } from '../../kit/processes/child.ts'
import { running } from './running.ts'

export interface KillPlan {
  readonly sessions: number
  readonly childKills: number
  readonly gatewayKills: number
  /** From 0 up to 1. */
  random(): number
  progress?(line: string): void
}

export interface KillReport {
  sessions: number
  childKills: number
  gatewayKills: number
  answered: number
  failed: number
  /** Descriptors and resident kilobytes of the last gateway, after its first session and at its end. */
  readonly descriptors: number[]
  readonly memory: number[]
  readonly lost: string[]
}

const concurrent = 8
const callsPerSession = 3
const scopes = ['session', 'caller', 'tenant'] as const

/** Runs the plan. */
export async function killSessions(plan: KillPlan): Promise<KillReport> {
  const { random, progress = () => {} } = plan
  const folder = mkdtempSync(join(tmpdir(), 'sluice-gateway-'))
  const ledger = join(folder, 'ledger')
  const base = randomUUID()
  let sender = createNodeSender()
  const answered = new Set<string>()
  const report: KillReport = {
    ...{ sessions: 0, childKills: 0, gatewayKills: 0, answered: 0, failed: 0 },
    ...{ descriptors: [], memory: [], lost: [] },
  }
  let begun = 0
  let current = await startGateway(`${base}-0`, ledger)
  const upstreams = (mark: string): readonly number[] => running('upstream.fixture', mark)

  async function session(number: number): Promise<void> {
    let client: Client | undefined
    const { url } = current
    // Two tenants with two callers each. Earlier revisions have sessions; 2026-07-28 has none.
    const headers = { authorization: `Bearer t${number % 2}.s${number % 4}` }
    const revision = number % 4 === 3 ? '2026-07-28' : '2025-11-25'
    try {
      client = await connect(httpTransport(url, { sender: sender.send, headers }), { revision, timeoutMs: 30_000 })
      for (let call = 0; call < callsPerSession; call++) {
        const mark = `${number}-${call}`
        const scope = scopes[call % scopes.length]
        const { content, isError } = await client.callTool(`${scope}_do`, { how: 'work', mark })
        if (isError === true) report.failed++
        else if (JSON.stringify(content).includes('text')) answered.add(mark)
      }
    } catch {
      report.failed++
    } finally {
      await client?.close().catch(() => {})
      report.sessions++
    }
  }

  /** Kills one upstream process, if there is one. */
  function killChild(): void {
    const found = upstreams(current.mark)
    const pid = found[Math.floor(random() * found.length)]
    if (pid === undefined) return
    process.kill(pid, 'SIGKILL')
    report.childKills++
  }

  async function killGateway(): Promise<void> {
    const { child, mark } = current
    child.process.kill('SIGKILL')
    await child.exit
    report.gatewayKills++
    await noneLeft(mark, 'after kill -9 of the gateway')
    current = await startGateway(`${base}-${report.gatewayKills}`, ledger)
    progress(`gateway-processes: ${report.sessions} sessions, ${report.gatewayKills} gateways killed`)
  }

  async function noneLeft(mark: string, when: string): Promise<void> {
    for (let turn = 0; turn < 200 && running(mark).length > 0; turn++) await pause(50)
    for (const pid of running(mark)) report.lost.push(`process ${pid} is left ${when}`)
  }

  /**
   * Measures the gateway without connections of clients and without processes. The pipes of a process close a moment
   * after it, so more than `descriptors` of them are counted again. A leak stays.
   */
  async function measureAtRest(descriptors = Number.POSITIVE_INFINITY): Promise<Measured> {
    sender.close()
    sender = createNodeSender()
    for (let turn = 0; turn < 600 && upstreams(current.mark).length > 0; turn++) await pause(50)
    let measured = await measure(current.child)
    for (let turn = 0; turn < 100 && measured.descriptors > descriptors; turn++) {
      await pause(50)
      measured = await measure(current.child)
    }
    return measured
  }

  async function work(): Promise<void> {
    while (begun < plan.sessions) {
      await session(begun++)
      if (report.childKills < Math.floor((plan.childKills * report.sessions) / plan.sessions)) killChild()
    }
  }

  try {
    for (let part = 1; part <= plan.gatewayKills; part++) {
      const workers = Array.from({ length: concurrent }, work)
      const due = (plan.sessions * part) / (plan.gatewayKills + 1)
      while (report.sessions < due) await pause(20)
      const end = begun
      begun = plan.sessions
      await killGateway()
      await Promise.all(workers)
      begun = end
    }
    await session(begun++)
    const before = await measureAtRest()
    await Promise.all(Array.from({ length: concurrent }, work))
    const after = await measureAtRest(before.descriptors)
    report.descriptors.push(before.descriptors, after.descriptors)
    report.memory.push(before.memory, after.memory)
    if (after.descriptors > before.descriptors)
      report.lost.push(`${after.descriptors - before.descriptors} descriptors are left open`)
    current.child.process.kill('SIGTERM')
    await current.child.exit
    await noneLeft(base, 'after the end of the gateway')
    judge(ledger, answered, report)
    return report
  } finally {
    current.child.process.kill('SIGKILL')
    sender.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

interface RunningGateway {
  readonly child: Child
  readonly url: string
  readonly mark: string
}

async function startGateway(mark: string, ledger: string): Promise<RunningGateway> {
  const child = startChild('../../gateway/processes/served-gateway.fixture.ts', mark, ledger)
  return { child, url: await child.line(), mark }
}

/** Every call ran at most once, and every answered call ran. */
function judge(ledger: string, answered: ReadonlySet<string>, report: KillReport): void {
  const ran = new Map<string, number>()
  for (const mark of readFileSync(ledger, 'utf8').split('\n')) if (mark !== '') ran.set(mark, (ran.get(mark) ?? 0) + 1)
  for (const [mark, count] of ran) if (count > 1) report.lost.push(`call ${mark} ran ${count} times`)
  for (const mark of answered) if (!ran.has(mark)) report.lost.push(`call ${mark} was answered and did not run`)
  report.answered = answered.size
}

interface Measured {
  readonly descriptors: number
  readonly memory: number
}

function measure({ process: { pid } }: Child): Measured {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return { descriptors: readdirSync(`/proc/${pid}/fd`).length, memory: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
