/**
 * A race over HTTP: every contender in its own process, the load in another, rounds in turn.
 *
 * It measures requests per second with the server's core saturated, and the CPU time per request, which depends less on
 * other work of the machine.
 */
import { startChild } from './child.ts'
import { type Contender, revisions, scriptOf } from './contenders.ts'
import { formatNumber, interleave, median, progress, ratio } from './figures.ts'
import type { Failed, Job, Load } from './http-load.ts'
import { callMessage, echoText, httpHeaders } from './messages.ts'

/** Enough connections to saturate the server's core. */
const many = 32
const warmUpMs = 3_000
const roundMs = 600
const usualRounds = 15

const bodyOf = (name: Contender) => callMessage(revisions[name])

interface Served {
  readonly url: string
  readonly headers: Record<string, string>
}

/** Checks the answer, because a contender that answers something else would be faster for the wrong reason. */
async function check(name: Contender, { url, headers }: Served): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body: bodyOf(name) })
  const text = await response.text()
  if (response.status !== 200 || !text.includes(`"text":"${echoText}"`)) {
    throw new Error(`answers ${response.status} ${text.slice(0, 200)}`)
  }
}

interface Used {
  readonly cpuMs: number
  readonly longestTurnMs: number
}

interface Sample extends Load {
  readonly cpuUs: number
  /** As share of a core. */
  readonly serverBusy: number
  readonly longestTurnMs: number
}

export interface RaceOptions {
  readonly connections?: number
  /** Sends a new idempotency key with each request. */
  readonly keyed?: boolean
  readonly rounds?: number
}

export interface Race {
  /** The median of a contender's rounds; `undefined` for a contender that was removed. */
  of(name: Contender, pick: (sample: Sample) => number): number | undefined
  rate(name: Contender): number | undefined
  readonly notes: readonly string[]
  readonly columns: readonly string[]
  /** The values of `columns` for one contender. */
  row(name: Contender): readonly string[]
}

export async function race(section: string, names: readonly Contender[], options: RaceOptions = {}): Promise<Race> {
  const { connections = many, keyed = false, rounds = usualRounds } = options
  const load = startChild(new URL('../lib/http-load.ts', import.meta.url))
  const children = new Map(names.map((name) => [name, startChild(scriptOf(name, 'http'))]))
  const servers = new Map<Contender, Served>()

  async function drive(name: Contender, durationMs: number): Promise<Sample> {
    const [server, child] = [servers.get(name), children.get(name)]
    if (!server || !child) throw new Error('never started')
    const job: Job = {
      ...server,
      body: bodyOf(name),
      expect: echoText,
      connections,
      durationMs,
      keyed,
    }
    const before = await child.ask<Used>('used')
    const result = await load.ask<Load | Failed>(job)
    if ('failed' in result) throw new Error(result.failed)
    const after = await child.ask<Used>('used')
    if (result.wrong > 0)
      throw new Error(`${result.wrong} of ${result.requests} answers were wrong: ${result.firstWrong}`)
    const cpuUs = ((after.cpuMs - before.cpuMs) * 1_000) / result.requests
    const { longestTurnMs } = after
    return { ...result, cpuUs, serverBusy: (cpuUs * result.perSecond) / 1e6, longestTurnMs }
  }

  async function warmUp(name: Contender) {
    const served = await children.get(name)?.ask<Served>()
    if (!served) throw new Error('never started')
    const server = { url: served.url, headers: { ...httpHeaders('tools/call', revisions[name]), ...served.headers } }
    await check(name, server)
    servers.set(name, server)
    return drive(name, warmUpMs)
  }

  try {
    progress(`${section}: warming up ${names.join(', ')}`)
    const warm = await interleave(names, 1, warmUp)
    const samples = await interleave([...warm.keys()], rounds, (name, round) => {
      if (name === names[0]) progress(`${section}: round ${round + 1} of ${rounds}`)
      return drive(name, roundMs)
    })
    return toRace(connections, rounds, (name, pick) => {
      const taken = samples.get(name)
      return taken && median(taken.map(pick))
    })
  } finally {
    load.close()
    for (const child of children.values()) child.close()
  }
}

function toRace(connections: number, rounds: number, of: Race['of']): Race {
  const rate: Race['rate'] = (name) => of(name, (sample) => sample.perSecond)
  const floorBusy = of('floor', (sample) => sample.serverBusy) ?? 0
  return {
    of,
    rate,
    notes: [
      `${connections} keep-alive connection${connections === 1 ? '' : 's'}, median of ${rounds} rounds of ${roundMs / 1_000} s`,
      connections < many
        ? 'so few leave the server idle between two requests: this is the round-trip time, not the maximum throughput'
        : 'busy, as share of a core: the server should be near 1 or above, the load well below',
      ...(connections === many && floorBusy < 0.9
        ? [`the floor got ${formatNumber(floorBusy)} of a core: other work was running, and ratios favour the slower`]
        : []),
    ],
    columns: ['req/s', 'of floor', 'CPU µs/req', 'p50 ms', 'p99 ms', 'server busy', 'load busy'],
    row: (name) => [
      formatNumber(rate(name)),
      formatNumber(ratio(rate(name), rate('floor'))),
      formatNumber(of(name, (sample) => sample.cpuUs)),
      formatNumber(of(name, (sample) => sample.p50Ms)),
      formatNumber(of(name, (sample) => sample.p99Ms)),
      formatNumber(of(name, (sample) => sample.serverBusy)),
      formatNumber(of(name, (sample) => sample.busy)),
    ],
  }
}
