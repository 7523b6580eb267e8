/** The cost of a library before its first request: packages, megabytes, and the time that its import adds to Node. */
import { spawnSync } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { closureOf } from '../lib/closure.ts'
import { type Contender, installs } from '../lib/contenders.ts'
import { formatFactor, formatNumber, interleave, median, progress, ratio, type Section } from '../lib/figures.ts'

const bench = fileURLToPath(new URL('..', import.meta.url))
const rounds = 15

/** Runs plain JavaScript from the command line, because a TypeScript file would add the cost of stripping its types. */
function startMs(imports: readonly string[]): number {
  const code = imports.map((name) => `import ${JSON.stringify(name)};`).join('')
  const startedAt = performance.now()
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: bench })
  const elapsed = performance.now() - startedAt
  if (status !== 0) throw new Error(/^.*Error.*$/m.exec(stderr.toString())?.[0] ?? `import ends with ${status}`)
  return elapsed
}

type Start = 'bare' | `${Contender} ${'entry' | 'http'}`

function importsOf(start: Start): readonly string[] {
  const [name, what] = start.split(' ') as [Contender, 'entry' | 'http']
  return installs[name]?.[what] ?? []
}

export async function install(): Promise<Section> {
  const names = Object.keys(installs) as Contender[]
  progress(`install: ${rounds} starts each of ${names.join(', ')}`)
  const all: Start[] = ['bare', ...names.flatMap((name): Start[] => [`${name} entry`, `${name} http`])]
  const starts = await interleave(all, rounds, async (start) => startMs(importsOf(start)))
  const sizes = await interleave(names, 1, async (name) => closureOf(installs[name]?.packages ?? [], bench))

  const bareMs = median(starts.get('bare') ?? [])
  const overBare = (start: Start) => {
    const taken = starts.get(start)
    return taken && Math.max(0, median(taken) - bareMs)
  }
  const of = (name: Contender) => {
    const [size] = sizes.get(name) ?? []
    return {
      packages: size?.packages.length,
      megabytes: size && size.bytes / 1e6,
      entryMs: overBare(`${name} entry`),
      importMs: overBare(`${name} http`),
    }
  }
  return {
    figures: Object.fromEntries(names.map((name) => [name, of(name)])),
    tables: [
      {
        title: 'install: packages and size with dependencies, import time over bare Node',
        notes: [
          `bare Node starts in ${formatNumber(bareMs)} ms; median of ${rounds} starts each`,
          'entry: the main entry alone; for HTTP: everything that a server on node:http imports, except Zod',
          'packages and size: the library, without Zod where it does not bring it and without fetch adapters',
        ],
        columns: ['', 'packages', 'MB', 'entry ms', 'for HTTP ms', 'vs sdk-v2'],
        rows: names.map((name) => {
          const { packages, megabytes, entryMs, importMs } = of(name)
          return [
            name,
            packages === undefined ? '–' : String(packages),
            formatNumber(megabytes),
            formatNumber(entryMs),
            formatNumber(importMs),
            formatFactor(ratio(importMs, of('sdk-v2').importMs)),
          ]
        }),
      },
    ],
    goals: [
      { figure: 'packages with dependencies', atMost: 8, unit: '', measured: of('sluice').packages },
      { figure: 'installed size', atMost: 6, unit: ' MB', measured: of('sluice').megabytes },
      { figure: 'import for HTTP over bare Node', atMost: 40, unit: ' ms', measured: of('sluice').importMs },
    ],
  }
}
