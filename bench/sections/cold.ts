/** Cold starts: the time until the first answer, of a process over stdio, and of an isolate and a process of workerd. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { overStdio, type StartOptions } from '../cold/first-answer.ts'
import { installTarballs } from '../cold/installed.ts'
import { answerOfProcess, startIsolates } from '../cold/workerd.ts'
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
import { echoText, type Revision } from '../lib/messages.ts'
import { workerOf } from '../lib/worker.ts'

const rounds = 15
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))
const command = here('../../packages/cli/bin/sluice.js')
const scratch = (name: string): string => mkdtempSync(join(tmpdir(), `sluice-cold-${name}-`))

type Start = (options?: StartOptions) => Promise<number>

/** Starts a program. */
const program =
  (script: string, revision: Revision = '2026-07-28'): Start =>
  (options) =>
    overStdio([script], revision, options)
/** Starts `sluice serve` with a data folder. */
const serve =
  (file: string, cwd: string, data: string): Start =>
  (options) =>
    overStdio([file, 'serve', './server.ts', '--stdio', '--data', data], '2026-07-28', { ...options, cwd })
/** A later start, which finds the compiled code that the first one kept in this folder. */
const again = (start: Start, variable: string, folder: string): Start => {
  const env = { [variable]: folder }
  let first: Promise<number> | undefined
  return async () => {
    first ??= start({ env, endsItself: true })
    await first
    return start({ env })
  }
}
/** The first start of the command: its cache is empty each time. */
const firstTime =
  (start: Start): Start =>
  async () => {
    const folder = scratch('cache')
    try {
      return await start({ env: { XDG_CACHE_HOME: folder } })
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

/** `folder` holds the compile caches and the installed command. */
function startsIn(folder: string) {
  const [sluice, sdk] = [
    program(fileURLToPath(scriptOf('sluice', 'stdio'))),
    program(fileURLToPath(scriptOf('sdk-v2', 'stdio'))),
  ]
  const served = serve(command, here('../cold'), join(folder, 'data'))
  const installed = serve(installTarballs(folder), join(folder, 'bench/cold'), join(folder, 'data'))
  return {
    floor: program(fileURLToPath(scriptOf('floor', 'stdio'))),
    sluice,
    'sluice, compile cache': again(sluice, 'NODE_COMPILE_CACHE', join(folder, 'cache')),
    'sluice serve, first start': firstTime(served),
    'sluice serve': again(served, 'XDG_CACHE_HOME', join(folder, 'served')),
    'sluice serve, installed': again(installed, 'XDG_CACHE_HOME', join(folder, 'installed')),
    'sdk-v2': sdk,
    'sdk-v2, compile cache': again(sdk, 'NODE_COMPILE_CACHE', join(folder, 'cache-v2')),
    'sdk-v1': program(fileURLToPath(scriptOf('sdk-v1', 'stdio')), '2025-11-25'),
    fastmcp: program(here('../cold/fastmcp.ts'), '2025-11-25'),
  } as const
}

const workers = ['floor', 'zod', 'sluice', 'sdk-v2', 'tmcp'] as const
type Worker = (typeof workers)[number]
/** Answers with a constant, so that the rest of each figure is the worker itself. */
const floorWorker = `export default { fetch: () => new Response('${echoText}') }`
const bundleOf = async (name: Worker): Promise<string> =>
  name === 'floor'
    ? floorWorker
    : workerOf({
        entryPoints: [name === 'zod' ? here('../cold/zod-worker.ts') : fileURLToPath(scriptOf(name, 'edge'))],
      })

export async function cold(): Promise<Section> {
  const folder = scratch('starts')
  const starts = startsIn(folder)
  const names = Object.keys(starts) as (keyof typeof starts)[]
  progress(`cold: ${rounds} starts each of ${names.join(', ')}`)
  const overPipe = await interleave(names, rounds, (name) => starts[name]())
  rmSync(folder, { recursive: true })
  const bundles = new Map<Worker, string>()
  for (const name of workers) bundles.set(name, await bundleOf(name))
  progress(`cold: ${rounds} isolates each of ${workers.join(', ')}`)
  const isolates = await startIsolates(bundles)
  // The first one of each also reads the code of workerd from the disk.
  await interleave(workers, 1, isolates.answerOfIsolate)
  const asIsolate = await interleave(workers, rounds, isolates.answerOfIsolate)
  await isolates.close()
  progress(`cold: ${rounds} starts of workerd each with ${workers.join(', ')}`)
  const asProcess = await interleave(workers, rounds, (name) => answerOfProcess(bundles.get(name) ?? ''))
  const stdioMs = (name: keyof typeof starts) => medianOf(overPipe.get(name))
  const isolateMs = (name: Worker) => medianOf(asIsolate.get(name))
  const processMs = (name: Worker) => medianOf(asProcess.get(name))
  const goal = (figure: string, measured: number | undefined): Goal => ({ figure, atMost: 0.5, unit: '×', measured })
  return {
    figures: {
      stdio: Object.fromEntries(names.map((name) => [name, stdioMs(name)])),
      isolate: Object.fromEntries(workers.map((name) => [name, isolateMs(name)])),
      workerd: Object.fromEntries(workers.map((name) => [name, processMs(name)])),
    },
    tables: [
      {
        title: 'cold: milliseconds from the start of the process to the first answer, stdio',
        notes: [
          `median of ${rounds} starts; every program is TypeScript, whose types Node strips at the start`,
          '"sluice serve" is a later start: it finds compiled code, as it does for every start but the first',
          '"compile cache" is a later start with NODE_COMPILE_CACHE; "installed" runs from the tarballs',
        ],
        columns: ['', 'ms', 'vs sdk-v2'],
        rows: names.map((name) => [
          name,
          formatNumber(stdioMs(name)),
          formatFactor(ratio(stdioMs(name), stdioMs('sdk-v2'))),
        ]),
      },
      {
        title: 'cold: milliseconds to the first answer of a worker on workerd, over HTTP',
        notes: [
          `median of ${rounds} starts; "isolate" is a new one in a running workerd, as on an edge network`,
          '"process" is the start of workerd itself, with the worker',
          'floor: a worker that answers with a constant, without Zod',
          'zod: a worker that only reads and validates the call, with Zod',
        ],
        columns: ['', 'isolate ms', 'vs sdk-v2', 'process ms', 'vs sdk-v2'],
        rows: workers.map((name) => [
          name,
          formatNumber(isolateMs(name)),
          formatFactor(ratio(isolateMs(name), isolateMs('sdk-v2'))),
          formatNumber(processMs(name)),
          formatFactor(ratio(processMs(name), processMs('sdk-v2'))),
        ]),
      },
    ],
    goals: [
      goal('cold start of sluice serve, of SDK v2', ratio(stdioMs('sluice serve'), stdioMs('sdk-v2'))),
      goal('cold start as installed, of SDK v2', ratio(stdioMs('sluice serve, installed'), stdioMs('sdk-v2'))),
      goal('first request of a new isolate on workerd, of SDK v2', ratio(isolateMs('sluice'), isolateMs('sdk-v2'))),
    ],
  }
}

const medianOf = (taken: readonly number[] | undefined): number | undefined => taken && median(taken)
