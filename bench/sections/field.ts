/**
 * The workload of the published comparison of languages, with the servers of this runtime: three tools that call an
 * API and Redis, 50 users. The services and the load share the machine's cores with the server that is measured.
 *
 * The distance to SDK v1 is promised for the published form. Calls alone are promised relative to the floor, because the
 * tools themselves take half of their time.
 */
import { programIn } from '../../test/kit/processes/npm-packages.ts'
import { startRedis } from '../../test/kit/processes/redis.ts'
import { seed, users } from '../field/data.ts'
import type { Flow } from '../field/journey.ts'
import type { FieldJob } from '../field/load.ts'
import { published, publishedNode } from '../field/published.ts'
import { type Child, startChild } from '../lib/child.ts'
import {
  formatFactor,
  formatInteger,
  formatNumber,
  interleave,
  median,
  progress,
  ratio,
  type Section,
  type Table,
} from '../lib/figures.ts'
import type { Failed, Load } from '../lib/http-load.ts'
import type { Revision } from '../lib/messages.ts'

const revisions = {
  floor: '2026-07-28',
  sluice: '2026-07-28',
  'sluice-bun': '2026-07-28',
  'sdk-v1': '2025-11-25',
  'sdk-v2': '2026-07-28',
  fastmcp: '2025-11-25',
  'mcp-lite': '2025-06-18',
  tmcp: '2026-07-28',
} as const satisfies Record<string, Revision>
type Name = keyof typeof revisions

const names = Object.keys(revisions) as Name[]
const flows: readonly Flow[] = ['sessions', 'calls']
const warmUpMs = 2_000
const roundMs = 1_000
const rounds = 5

interface Sample extends Load {
  readonly cpuUs: number
  readonly megabytes: number
}

interface Used {
  readonly cpuMs: number
  readonly megabytes: number
}

export async function field(): Promise<Section> {
  const redis = await startRedis(['--appendonly', 'no'])
  const api = startChild(new URL('../field/api.ts', import.meta.url))
  try {
    process.env['FIELD_REDIS'] = redis.url
    process.env['FIELD_API'] = new URL((await api.ask<{ url: string }>()).url).origin
    await seed(redis.url)
    const measured = new Map<Flow, Awaited<ReturnType<typeof measure>>>()
    for (const flow of flows) measured.set(flow, await measure(flow))
    const rate = (flow: Flow, name: Name) => measured.get(flow)?.(name, ({ perSecond }) => perSecond)
    const tableOf = (flow: Flow): Table => ({
      title: `field: three tools with HTTP and Redis, ${users} users, ${flow === 'calls' ? 'calls alone, newest revision' : 'a session of 2025-06-18 per call, as published'}`,
      notes: [
        `median of ${rounds} rounds of ${roundMs / 1_000} s; the API, Redis and the load share the cores`,
        'floor: the same tools behind bare node:http, without checks or protocol',
      ],
      columns: ['', 'req/s', 'vs sdk-v1', 'CPU µs/req', 'CPU vs sdk-v1', 'p50 ms', 'p99 ms', 'memory MB', 'load busy'],
      rows: names.map((name) => {
        const cpu = (one: Name) => measured.get(flow)?.(one, ({ cpuUs }) => cpuUs)
        const of = (pick: (sample: Sample) => number) => formatNumber(measured.get(flow)?.(name, pick))
        return [
          name,
          of(({ perSecond }) => perSecond),
          formatFactor(ratio(rate(flow, name), rate(flow, 'sdk-v1'))),
          of(({ cpuUs }) => cpuUs),
          formatFactor(ratio(cpu('sdk-v1'), cpu(name))),
          of(({ p50Ms }) => p50Ms),
          of(({ p99Ms }) => p99Ms),
          of(({ megabytes }) => megabytes),
          of(({ busy }) => busy),
        ]
      }),
    })
    return {
      figures: Object.fromEntries(
        flows.map((flow) => [flow, Object.fromEntries(names.map((name) => [name, formatInteger(rate(flow, name))]))]),
      ),
      tables: [
        ...flows.map(tableOf),
        {
          title: 'field: the published figures, on another machine',
          columns: ['', 'req/s', 'vs Node, SDK v1'],
          rows: Object.entries(published).map(([name, value]) => [
            name,
            formatNumber(value),
            formatFactor(value / publishedNode),
          ]),
        },
      ],
      goals: [
        {
          figure: 'field, the published workload, times SDK v1',
          atLeast: 10,
          unit: '×',
          measured: ratio(rate('sessions', 'sluice'), rate('sessions', 'sdk-v1')),
        },
        ...flows.map((flow) => ({
          figure: `field, ${flow}, of the floor`,
          atLeast: 0.9,
          unit: '×',
          measured: ratio(rate(flow, 'sluice'), rate(flow, 'floor')),
        })),
      ],
    }
  } finally {
    api.close()
    await redis.stop()
  }
}

/** Returns the median of a figure per contender. */
async function measure(flow: Flow) {
  const load = startChild(new URL('../field/load.ts', import.meta.url))
  const children = new Map<Name, Child>()
  const urls = new Map<Name, string>()
  async function drive(name: Name, durationMs: number): Promise<Sample> {
    const [url, child] = [urls.get(name), children.get(name)]
    if (url === undefined || !child) throw new Error('never started')
    const before = await child.ask<Used>('used')
    const job: FieldJob = { url, flow, revision: revisions[name], durationMs }
    const result = await load.ask<Load | Failed>(job)
    if ('failed' in result) throw new Error(result.failed)
    const after = await child.ask<Used>('used')
    return {
      ...result,
      cpuUs: ((after.cpuMs - before.cpuMs) * 1_000) / result.requests,
      megabytes: after.megabytes,
    }
  }
  try {
    progress(`field, ${flow}: warming up ${names.join(', ')}`)
    const warm = await interleave(names, 1, async (name) => {
      const script = new URL(`../field/contenders/${name}.ts`, import.meta.url)
      const child = startChild(script, name === 'sluice-bun' ? programIn('runtimes', 'bun') : undefined)
      children.set(name, child)
      urls.set(name, (await child.ask<{ url: string }>()).url)
      return drive(name, warmUpMs)
    })
    const samples = await interleave([...warm.keys()], rounds, (name) => drive(name, roundMs))
    return (name: Name, pick: (sample: Sample) => number): number | undefined => {
      const taken = samples.get(name)
      return taken && median(taken.map(pick))
    }
  } finally {
    load.close()
    for (const child of children.values()) child.close()
  }
}
