/**
 * `tools/call` over HTTP: every contender in a process of its own, the load in another, rounds in turn.
 *
 * Requests per second with the server's core saturated, next to the CPU one request costs the server, which
 * moves less when the machine is busy with something else.
 */
import { startChild } from '../lib/child.ts'
import { type Contender, revisions, scriptOf } from '../lib/contenders.ts'
import { interleave, median, number, progress, ratio, type Section, times, whole } from '../lib/figures.ts'
import type { Failed, Job, Load } from '../lib/http-load.ts'
import { callMessage, httpHeaders, said } from '../lib/messages.ts'

const names: readonly Contender[] = ['floor', 'sluice', 'sluice-full', 'sdk-v2', 'sdk-v1', 'mcp-lite', 'tmcp']
const connections = 32
const warmUpMs = 3_000
const roundMs = 600
const rounds = 15

const bodyOf = (name: Contender) => callMessage(revisions[name])

interface Served {
  readonly url: string
  readonly headers: Record<string, string>
}

/** A contender that answers something else is faster for the wrong reason. */
async function check(name: Contender, { url, headers }: Served): Promise<void> {
  const response = await fetch(url, { method: 'POST', headers, body: bodyOf(name) })
  const text = await response.text()
  if (response.status !== 200 || !text.includes(`"text":"${said}"`)) {
    throw new Error(`answers ${response.status} ${text.slice(0, 200)}`)
  }
}

export async function http(): Promise<Section> {
  const load = startChild(new URL('../lib/http-load.ts', import.meta.url))
  const children = new Map(names.map((name) => [name, startChild(scriptOf(name, 'http'))]))
  const servers = new Map<Contender, Served>()

  async function drive(name: Contender, durationMs: number) {
    const [server, child] = [servers.get(name), children.get(name)]
    if (!server || !child) throw new Error('never started')
    const job: Job = {
      ...server,
      body: bodyOf(name),
      expect: said,
      connections,
      durationMs,
    }
    const before = await child.ask<{ cpuMs: number }>('cpu')
    const result = await load.ask<Load | Failed>(job)
    if ('failed' in result) throw new Error(result.failed)
    const after = await child.ask<{ cpuMs: number }>('cpu')
    if (result.wrong > 0) throw new Error(`${result.wrong} of ${result.requests} answers were wrong`)
    const cpuUs = ((after.cpuMs - before.cpuMs) * 1_000) / result.requests
    return { ...result, cpuUs, serverBusy: (cpuUs * result.perSecond) / 1e6 }
  }

  async function warmUp(name: Contender) {
    const told = await children.get(name)?.ask<Served>()
    if (!told) throw new Error('never started')
    const server = { url: told.url, headers: { ...httpHeaders('tools/call', revisions[name]), ...told.headers } }
    await check(name, server)
    servers.set(name, server)
    return drive(name, warmUpMs)
  }

  try {
    progress(`http: warming up ${names.join(', ')}`)
    const warm = await interleave(names, 1, warmUp)
    const samples = await interleave([...warm.keys()], rounds, (name, round) => {
      if (name === names[0]) progress(`http: round ${round + 1} of ${rounds}`)
      return drive(name, roundMs)
    })
    const of = (name: Contender, pick: (sample: Awaited<ReturnType<typeof drive>>) => number) => {
      const taken = samples.get(name)
      return taken && median(taken.map(pick))
    }
    const rate = (name: Contender) => of(name, (sample) => sample.perSecond)
    const floorBusy = of('floor', (sample) => sample.serverBusy) ?? 0
    return {
      figures: Object.fromEntries(names.map((name) => [name, whole(rate(name))])),
      tables: [
        {
          title: 'http: tools/call, one Zod tool, requests per second',
          notes: [
            `${connections} keep-alive connections, median of ${rounds} rounds of ${roundMs / 1_000} s`,
            'sluice-full: JWT, tenant, gate, limits, slots, scopes, log to a file, metrics; sdk-v2 and the rest with none of it',
            'busy, as share of a core: the server should be near 1 or above, the load well below',
            ...(floorBusy < 0.9
              ? [`the floor got ${number(floorBusy)} of a core: other work was running, and ratios flatter the slower`]
              : []),
          ],
          columns: [
            '',
            'revision',
            'req/s',
            'of floor',
            'vs sdk-v2',
            'CPU µs/req',
            'p50 ms',
            'p99 ms',
            'server busy',
            'load busy',
          ],
          rows: names.map((name) => [
            name,
            revisions[name],
            number(rate(name)),
            number(ratio(rate(name), rate('floor'))),
            times(ratio(rate(name), rate('sdk-v2'))),
            number(of(name, (sample) => sample.cpuUs)),
            number(of(name, (sample) => sample.p50Ms)),
            number(of(name, (sample) => sample.p99Ms)),
            number(of(name, (sample) => sample.serverBusy)),
            number(of(name, (sample) => sample.busy)),
          ]),
        },
      ],
      goals: [
        {
          figure: 'HTTP tools/call, of the floor',
          atLeast: 0.75,
          unit: '',
          measured: ratio(rate('sluice'), rate('floor')),
        },
        {
          figure: 'HTTP tools/call, times SDK v2',
          atLeast: 8,
          unit: '×',
          measured: ratio(rate('sluice'), rate('sdk-v2')),
        },
        {
          figure: 'full stack, of the floor',
          atLeast: 0.6,
          unit: '',
          measured: ratio(rate('sluice-full'), rate('floor')),
        },
        {
          figure: 'full stack, times SDK v2',
          atLeast: 6,
          unit: '×',
          measured: ratio(rate('sluice-full'), rate('sdk-v2')),
        },
      ],
    }
  } finally {
    load.close()
    for (const child of children.values()) child.close()
  }
}
