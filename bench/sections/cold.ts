/** Cold starts: the time from the start of the process to its first answer, over stdio and on workerd. */
import { fileURLToPath } from 'node:url'
import { programIn } from '../../test/kit/processes/npm-packages.ts'
import { onWorkerd, overStdio } from '../cold/first-answer.ts'
import { scriptOf } from '../lib/contenders.ts'
import {
  formatFactor,
  formatNumber,
  type Goal,
  interleave,
  median,
  progress,
  ratio,
  type Section,
} from '../lib/figures.ts'
import { workerOf } from '../lib/worker.ts'

const rounds = 9
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const command = here('../../packages/cli/bin/sluice.js')

const starts = {
  floor: () => overStdio([fileURLToPath(scriptOf('floor', 'stdio'))], '2026-07-28'),
  sluice: () => overStdio([fileURLToPath(scriptOf('sluice', 'stdio'))], '2026-07-28'),
  'sluice serve': () => overStdio([command, 'serve', './server.ts', '--stdio'], '2026-07-28', here('../cold')),
  'sdk-v2': () => overStdio([fileURLToPath(scriptOf('sdk-v2', 'stdio'))], '2026-07-28'),
  'sdk-v1': () => overStdio([fileURLToPath(scriptOf('sdk-v1', 'stdio'))], '2025-11-25'),
  fastmcp: () => overStdio([here('../cold/fastmcp.ts')], '2025-11-25'),
} as const
type Start = keyof typeof starts
const names = Object.keys(starts) as Start[]

const workers = ['sluice', 'sdk-v2', 'tmcp'] as const
type Worker = (typeof workers)[number]

export async function cold(): Promise<Section> {
  progress(`cold: ${rounds} starts each of ${names.join(', ')}`)
  const overPipe = await interleave(names, rounds, (name) => starts[name]())
  progress(`cold: ${rounds} starts of workerd each with ${workers.join(', ')}`)
  const workerd = programIn('runtimes', 'workerd')
  const bundles = new Map<Worker, string>()
  for (const name of workers)
    bundles.set(name, await workerOf({ entryPoints: [fileURLToPath(scriptOf(name, 'edge'))] }))
  const onEdge = await interleave(workers, rounds, (name) => onWorkerd(workerd, bundles.get(name) ?? '', '2026-07-28'))
  const stdioMs = (name: Start) => medianOf(overPipe.get(name))
  const workerdMs = (name: Worker) => medianOf(onEdge.get(name))
  const goal = (figure: string, measured: number | undefined): Goal => ({ figure, atMost: 0.5, unit: '×', measured })
  return {
    figures: {
      stdio: Object.fromEntries(names.map((name) => [name, stdioMs(name)])),
      workerd: Object.fromEntries(workers.map((name) => [name, workerdMs(name)])),
    },
    tables: [
      {
        title: 'cold: milliseconds from the start of the process to the first answer, stdio',
        notes: [`median of ${rounds} starts; every program is TypeScript, whose types Node strips at the start`],
        columns: ['', 'ms', 'vs sdk-v2'],
        rows: names.map((name) => [
          name,
          formatNumber(stdioMs(name)),
          formatFactor(ratio(stdioMs(name), stdioMs('sdk-v2'))),
        ]),
      },
      {
        title: 'cold: the same for a worker on workerd, first request over HTTP',
        notes: [`median of ${rounds} starts, the start of workerd included`],
        columns: ['', 'ms', 'vs sdk-v2'],
        rows: workers.map((name) => [
          name,
          formatNumber(workerdMs(name)),
          formatFactor(ratio(workerdMs(name), workerdMs('sdk-v2'))),
        ]),
      },
    ],
    goals: [
      goal('cold start over stdio, of SDK v2', ratio(stdioMs('sluice'), stdioMs('sdk-v2'))),
      goal('cold start of sluice serve, of SDK v2', ratio(stdioMs('sluice serve'), stdioMs('sdk-v2'))),
      goal('cold start on workerd, of SDK v2', ratio(workerdMs('sluice'), workerdMs('sdk-v2'))),
    ],
  }
}

const medianOf = (taken: readonly number[] | undefined): number | undefined => taken && median(taken)
