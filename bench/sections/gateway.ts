/**
 * The gateway: `tools/call` through it to an upstream over HTTP, beside the direct call and a proxy that parses both
 * ways. Three processes share the cores, so the share of the direct call falls as the upstream gets faster. The figures
 * are promised against the proxy in the same run.
 */
import { fileURLToPath } from 'node:url'
import { type Child, startChild } from '../lib/child.ts'
import { scriptOf } from '../lib/contenders.ts'
import {
  formatFactor,
  formatNumber,
  interleave,
  median,
  progress,
  ratio,
  type Section,
  type Table,
} from '../lib/figures.ts'
import type { Failed, Job, Load } from '../lib/http-load.ts'
import { callMessage, echoText, httpHeaders } from '../lib/messages.ts'

const names = ['direct', 'proxy', 'bare', 'full'] as const
type Way = (typeof names)[number]

const upstreams = {
  floor: new URL('../gateway/floor.ts', import.meta.url),
  'sdk-v2': scriptOf('sdk-v2', 'http'),
  stdio: scriptOf('sluice', 'stdio'),
}
/** A process on stdio has no direct call over HTTP, and the proxy cannot start it. */
const waysTo = (upstream: UpstreamName): readonly Way[] => (upstream === 'stdio' ? ['bare', 'full'] : names)
type UpstreamName = keyof typeof upstreams

const connections = 32
const warmUpMs = 2_000
const roundMs = 500
const rounds = 9

interface Served {
  readonly url: string
  readonly headers: Record<string, string>
}
interface Sample extends Load {
  readonly cpuUs: number
  readonly megabytes: number
}
type Measured = (way: Way, pick: (sample: Sample) => number) => number | undefined

async function race(upstream: UpstreamName): Promise<Measured> {
  const load = startChild(new URL('../lib/http-load.ts', import.meta.url))
  const ways = waysTo(upstream)
  const children = new Map<Way, Child>()
  const served = new Map<Way, Served>()
  if (ways.includes('direct')) {
    const direct = startChild(upstreams[upstream])
    children.set('direct', direct)
    served.set('direct', await direct.ask<Served>())
  }
  // Inherited by the processes that are started next.
  process.env['BENCH_UPSTREAM'] = served.get('direct')?.url ?? fileURLToPath(upstreams[upstream])
  for (const way of ways)
    if (way !== 'direct') children.set(way, startChild(new URL(`../gateway/${way}.ts`, import.meta.url)))
  async function drive(way: Way, durationMs: number): Promise<Sample> {
    const [server, child] = [served.get(way), children.get(way)]
    if (!server || !child) throw new Error('never started')
    const headers = { ...httpHeaders('tools/call', '2026-07-28'), ...server.headers }
    const job: Job = {
      url: server.url,
      headers,
      body: callMessage('2026-07-28'),
      expect: echoText,
      connections,
      durationMs,
    }
    const before = await child.ask<{ cpuMs: number }>('cpu')
    const result = await load.ask<Load | Failed>(job)
    if ('failed' in result) throw new Error(result.failed)
    const after = await child.ask<{ cpuMs: number; megabytes: number }>('cpu')
    if (result.wrong > 0) throw new Error(`${result.wrong} of ${result.requests} answers were wrong`)
    const cpuUs = ((after.cpuMs - before.cpuMs) * 1_000) / result.requests
    return { ...result, cpuUs, megabytes: after.megabytes }
  }
  try {
    progress(`gateway to ${upstream}: warming up`)
    const warm = await interleave(ways, 1, async (way) => {
      if (way !== 'direct') served.set(way, (await children.get(way)?.ask<Served>()) ?? { url: '', headers: {} })
      return drive(way, warmUpMs)
    })
    const samples = await interleave([...warm.keys()], rounds, (way, round) => {
      if (way === ways[0]) progress(`gateway to ${upstream}: round ${round + 1} of ${rounds}`)
      return drive(way, roundMs)
    })
    return (way, pick) => {
      const taken = samples.get(way)
      return taken && median(taken.map(pick))
    }
  } finally {
    load.close()
    for (const child of children.values()) child.close()
  }
}

const rate = ({ perSecond }: Sample): number => perSecond
const p50 = ({ p50Ms }: Sample): number => p50Ms
const p99 = ({ p99Ms }: Sample): number => p99Ms
const cpu = ({ cpuUs }: Sample): number => cpuUs
const memory = ({ megabytes }: Sample): number => megabytes

const tableOf = (upstream: UpstreamName, of: Measured): Table => ({
  title: `gateway over HTTP: tools/call to ${upstream === 'stdio' ? 'a process on stdio' : upstream} as upstream`,
  notes: [
    `${connections} connections, median of ${rounds} rounds of ${roundMs / 1_000} s`,
    'CPU and MB: of the process that is called; full: the full stack of sluice-full, one connection per caller',
  ],
  columns: ['', 'calls/s', 'of direct', 'vs proxy', 'CPU µs/call', 'MB', 'p50 ms', 'p99 ms', 'p99 vs proxy'],
  rows: waysTo(upstream).map((way) => [
    way,
    formatNumber(of(way, rate)),
    formatNumber(ratio(of(way, rate), of('direct', rate))),
    formatFactor(ratio(of(way, rate), of('proxy', rate))),
    formatNumber(of(way, cpu)),
    formatNumber(of(way, memory)),
    formatNumber(of(way, p50)),
    formatNumber(of(way, p99)),
    formatFactor(ratio(of(way, p99), of('proxy', p99))),
  ]),
})

export async function gateway(): Promise<Section> {
  const [floor, sdk, stdio] = [await race('floor'), await race('sdk-v2'), await race('stdio')]
  const share = (of: Measured, way: Way, to: Way): number | undefined => ratio(of(way, rate), of(to, rate))
  return {
    figures: Object.fromEntries(
      (
        [
          ['floor', floor],
          ['sdk-v2', sdk],
          ['stdio', stdio],
        ] as const
      ).map(([name, of]) => [
        name,
        Object.fromEntries(
          waysTo(name).map((way) => [
            way,
            { perSecond: of(way, rate), cpuUs: of(way, cpu), megabytes: of(way, memory), p99Ms: of(way, p99) },
          ]),
        ),
      ]),
    ),
    tables: [tableOf('floor', floor), tableOf('sdk-v2', sdk), tableOf('stdio', stdio)],
    goals: [
      {
        figure: 'gateway to the floor, times a parsing proxy',
        atLeast: 1.2,
        unit: '×',
        measured: share(floor, 'bare', 'proxy'),
      },
      {
        figure: 'gateway with the full stack, times a parsing proxy',
        atLeast: 1,
        unit: '×',
        measured: share(floor, 'full', 'proxy'),
      },
      {
        figure: 'gateway to the floor, p99, times a parsing proxy',
        atMost: 1,
        unit: '×',
        measured: ratio(floor('bare', p99), floor('proxy', p99)),
      },
      {
        figure: 'gateway to SDK v2, of the direct call',
        atLeast: 0.8,
        unit: '',
        measured: share(sdk, 'bare', 'direct'),
      },
    ],
  }
}
