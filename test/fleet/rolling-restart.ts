/**
 * A fleet under load whose processes are ended and restarted, one after the other. A failure counts for the process to
 * which HAProxy sent the call, by its log.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { envelope } from '../kit/clients/envelope.ts'
import type { Headers } from '../kit/clients/fleet.client.ts'
import { openSession, toolCall } from '../kit/clients/fleet.client.ts'
import { messagesOf, modernHeaders, post } from '../kit/clients/http-events.ts'
import type { Params } from '../kit/clients/protocol.ts'
import type { Fleet } from '../kit/processes/fleet.ts'

export interface RollingRestartReport {
  readonly calls: number
  readonly restarts: number
  /** Answers by process, as the answers themselves say. */
  readonly by: { readonly [process: string]: number }
  /** Exit codes and signals, in order. */
  readonly exits: readonly (number | string)[]
  /** Failed in flight on the process that was ended. */
  readonly inFlight: readonly Failure[]
  /** Failed without such a reason, or never ended. */
  readonly lost: readonly Failure[]
}

export interface Failure {
  readonly id: string
  readonly problem: string
  readonly server: string
}

interface Shutdown {
  readonly server: string
  readonly begun: number
  over: number
}

export interface RollingRestartOptions {
  readonly signal: 'SIGTERM' | 'SIGKILL'
  readonly callers: number
  /** Asked after each restart. */
  shouldContinue(restarts: number): boolean
}

/** A call that takes longer hangs. */
const patienceMs = 30_000

export async function rollingRestart(
  fleet: Fleet,
  { signal, callers, shouldContinue }: RollingRestartOptions,
): Promise<RollingRestartReport> {
  const { balancer, keys } = fleet
  const by: { [process: string]: number } = {}
  const failed: (Failure & { readonly from: number; readonly to: number })[] = []
  const endings: Shutdown[] = []
  const exits: (number | string)[] = []
  let calls = 0
  let over = false

  /** Half of them in a session, which every process serves, half of them in the newest revision, without one. */
  async function caller(number: number, session: Headers | undefined): Promise<void> {
    const bearer = { authorization: `Bearer ${keys.ann}` }
    while (!over) {
      const id = `${signal}-${number}-${calls++}`
      const message = toolCall('work', { ms: calls % 40 }, id, session ? {} : envelope({}))
      const headers = session ?? { ...bearer, ...modernHeaders(message) }
      const from = performance.now()
      try {
        const answer = await callOnce(balancer.url, message, { ...headers, 'x-request-id': id })
        by[answer] = (by[answer] ?? 0) + 1
      } catch (thrown) {
        const problem = thrown instanceof Error ? `${thrown.message}: ${String(thrown.cause)}` : String(thrown)
        failed.push({ id, problem, server: '', from, to: performance.now() })
      }
    }
  }

  const sessions = await Promise.all(
    Array.from({ length: callers }, (_, number) =>
      number % 2 === 0 ? openSession(balancer.url, keys.ann) : undefined,
    ),
  )
  const load = sessions.map((session, number) => caller(number, session))
  let restarts = 0
  for (; shouldContinue(restarts); restarts++) {
    const member = fleet.members[restarts % fleet.members.length]
    if (!member) break
    const ending: Shutdown = { server: member.name, begun: performance.now(), over: Number.POSITIVE_INFINITY }
    endings.push(ending)
    member.kill(signal)
    exits.push(await member.exited)
    ending.over = performance.now()
    await member.restart()
    await fleet.ready()
  }
  over = true
  await Promise.all(load)
  const blamed = await Promise.all(failed.map(async (each) => ({ ...each, server: await serverOf(fleet, each.id) })))
  const isExplained = ({ server, problem, from, to }: (typeof blamed)[number]): boolean =>
    problem.startsWith('502 ') &&
    endings.some((each) => each.server === server && from <= each.over && to >= each.begun)
  return {
    ...{ calls, restarts, by, exits },
    inFlight: blamed.filter(isExplained),
    lost: blamed.filter((each) => !isExplained(each)),
  }
}

/** Returns the name of the process that answered. */
async function callOnce(url: string, message: Params, headers: { readonly [name: string]: string }): Promise<string> {
  const response = await post(url, message, headers, AbortSignal.timeout(patienceMs))
  if (response.status !== 200) throw new Error(`${response.status} ${(await response.text()).slice(0, 300)}`)
  for await (const said of messagesOf(response)) {
    const { result } = said as { result?: { structuredContent?: { self?: string } } }
    if (result?.structuredContent?.self) return result.structuredContent.self
    throw new Error(JSON.stringify(said))
  }
  throw new Error('No answer')
}

/** The log is written when an exchange is over, and read here a little later. */
async function serverOf({ balancer }: Fleet, id: string): Promise<string> {
  for (let tries = 0; tries < 1500; tries++) {
    const served = balancer.served(id)
    if (served) return served.server
    await sleep(20)
  }
  return 'nobody'
}
