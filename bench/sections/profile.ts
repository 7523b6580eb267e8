/** Where the time of a message goes, of the floor and of Sluice, over HTTP with few and many connections and over stdio. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Contender, revisions, scriptOf } from '../lib/contenders.ts'
import { formatNumber, progress, type Section } from '../lib/figures.ts'
import { race } from '../lib/http-race.ts'
import { openPipe } from '../lib/pipe.ts'
import { parts, type Shares, sharesOf } from '../profile/samples.ts'

const names = ['floor', 'sluice'] as const satisfies readonly Contender[]
const connections = [4, 32] as const
const rounds = 7
const [window, stdioMs] = [64, 8_000]

interface Profile {
  readonly shares: Shares
  /** Per message, while it was profiled. */
  readonly cpuUs: number
}
type Profiles = ReadonlyMap<(typeof names)[number], Profile>

export async function profile(): Promise<Section> {
  const preload = new URL('../profile/preload.ts', import.meta.url).href
  const { NODE_OPTIONS: options = '' } = process.env
  process.env['NODE_OPTIONS'] = `${options} --import ${preload}`
  try {
    const measured = new Map<string, Profiles>()
    for (const count of connections)
      measured.set(`HTTP, ${count}`, await withFolder((folder) => overHttp(folder, count)))
    measured.set('stdio', await withFolder(overStdio))
    const columns = [...measured].flatMap(([where, profiles]) =>
      [...profiles].map(([name, { shares, cpuUs }]) => ({ title: `${where}: ${name}`, shares, cpuUs })),
    )
    return {
      figures: Object.fromEntries(
        columns.map(({ title, shares, cpuUs }) => [title, { cpuUs, ...Object.fromEntries(shares) }]),
      ),
      tables: [
        {
          title: 'profile: CPU µs per tools/call by part of the program',
          notes: [
            'from samples of the functions that ran; profiling itself costs time, so only the parts are comparable',
            'HTTP with this many connections; stdio with 64 messages in flight',
          ],
          columns: ['', ...columns.map(({ title }) => title)],
          rows: [
            ...parts.map((part) => [
              part,
              ...columns.map(({ shares, cpuUs }) => formatNumber((shares.get(part) ?? 0) * cpuUs)),
            ]),
            ['in all', ...columns.map(({ cpuUs }) => formatNumber(cpuUs))],
          ],
        },
      ],
      goals: [],
    }
  } finally {
    process.env['NODE_OPTIONS'] = options
  }
}

/** The contenders write their profiles into a new folder. */
async function withFolder<T>(measure: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-profile-'))
  process.env['BENCH_PROFILES'] = folder
  try {
    return await measure(folder)
  } finally {
    delete process.env['BENCH_PROFILES']
    rmSync(folder, { recursive: true })
  }
}

async function overHttp(folder: string, count: number): Promise<Profiles> {
  const { of } = await race(`profile, ${count} at a time`, names, { connections: count, rounds })
  const profiles = names.map(async (name): Promise<readonly [(typeof names)[number], Profile]> => {
    const shares = await sharesOf(folder, fileURLToPath(scriptOf(name, 'http')))
    return [name, { shares, cpuUs: of(name, ({ cpuUs }) => cpuUs) ?? Number.NaN }]
  })
  return new Map(await Promise.all(profiles))
}

async function overStdio(folder: string): Promise<Profiles> {
  const profiles = new Map<(typeof names)[number], Profile>()
  for (const name of names) {
    progress(`profile: ${name} over stdio`)
    const script = scriptOf(name, 'stdio')
    const pipe = await openPipe(script, revisions[name], window)
    const { cpuUs = Number.NaN } = await pipe.drive(stdioMs)
    pipe.close()
    profiles.set(name, { shares: await sharesOf(folder, fileURLToPath(script)), cpuUs })
  }
  return profiles
}
