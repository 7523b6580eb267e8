/**
 * `npm run conformance`: the official suite against `server.fixture.ts`, on every revision it knows.
 *
 * `-- --only 2026-07-28` runs one line of the table, `-- --scenario ping` one scenario on every revision that has it,
 * `-- --runtime workerd` (or deno, bun) the same server on another runtime; `workerd-object` is one Durable Object there.
 *
 * `-- --through http-v1` (http-v2, stdio-v1, stdio-v2): the suite through a gateway, with an official SDK as the upstream.
 * `-- --through http-sluice --only skills`: the same with Sluice as the upstream, which has skills.
 * `-- --direct http-v1`: the same upstream without a gateway.
 *
 * `-- --client`: the suite's client leg against `client-program.ts`, which uses `sluice/client`.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Ran } from './report.ts'
import { passed, remarks, table } from './report.ts'
import { failed, type Leg, readRequired, readScenarios } from './results.ts'
import { startServing } from './serve.ts'
import { conformance, suite } from './suite.ts'
import { surprises } from './through/expected.ts'
import { cells, serveThrough } from './through/serve-through.ts'

interface Run {
  readonly name: string
  readonly args: readonly string[]
  /** If set, only these decide. */
  readonly required?: readonly string[]
  /** Of an extension, which no revision has: the suite runs each by its name. */
  readonly scenarios?: readonly string[]
}

/** The suite always skips the last one. */
const taskScenarios: readonly string[] = [
  'tasks-capability-negotiation',
  'tasks-lifecycle',
  'tasks-wire-fields',
  'tasks-request-state-removal',
  'tasks-mrtr-input',
  'tasks-request-headers',
  'tasks-dispatch-and-envelope',
  'tasks-required-task-error',
  'tasks-mrtr-composition',
  'tasks-status-notifications',
]

const skillScenarios: readonly string[] = [
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'sep-2640-skills-directory',
]

const {
  only,
  scenario,
  runtime = 'node',
  client = false,
  through,
  direct,
} = parseArgs({
  options: {
    only: { type: 'string' },
    scenario: { type: 'string' },
    runtime: { type: 'string' },
    client: { type: 'boolean' },
    through: { type: 'string' },
    direct: { type: 'string' },
  },
}).values
const cell = cells.find((known) => known === (through ?? direct))
if ((through ?? direct) !== undefined && !cell) throw new Error(`--through: use one of ${cells.join(', ')}`)
const leg: Leg = client ? 'client' : 'server'

async function planned(): Promise<readonly Run[]> {
  const what = scenario === undefined ? ['--suite', 'all'] : ['--scenario', scenario]
  // A client chooses the revision itself, so it runs the lists of requirements, or one scenario alone.
  const all = cell ? ['2025-11-25', '2026-07-28'] : ['2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28']
  const revisions = client ? [] : all
  const runs = revisions.map((name): Run => ({ name, args: [...what, '--spec-version', name] }))
  if (client && scenario !== undefined) runs.push({ name: scenario.replace('/', '-'), args: what })
  // A set of requirements runs as a whole: the suite accepts no scenario beside it.
  for (const revision of scenario === undefined && !cell ? ['2025-11-25', '2026-07-28'] : []) {
    const required = await readRequired(suite, revision, leg)
    runs.push({ name: `requirements-${revision}`, args: ['--requirements', revision], required })
  }
  if (scenario === undefined && !client && !cell) runs.push({ name: 'tasks', args: [], scenarios: taskScenarios })
  if (scenario === undefined && !client && (!cell || cell === 'http-sluice'))
    runs.push({ name: 'skills', args: [], scenarios: skillScenarios })
  const kept = runs.filter(({ name }) => only === undefined || only === name)
  if (kept.length === 0) throw new Error(`--only: use one of ${runs.map(({ name }) => name).join(', ')}`)
  return kept
}

/** All client scenarios of a list run at once, each with a process: on a small machine they take their time. */
const program = `${process.execPath} ${fileURLToPath(new URL('client-program.ts', import.meta.url))}`
const tested = (url: string): readonly string[] =>
  client ? ['client', '--command', program, '--timeout', '120000'] : ['server', '--url', url]

async function perform({ name, args, required, scenarios: named }: Run, url: string, into: string): Promise<Ran> {
  const output = join(into, name)
  await mkdir(output)
  let [exit, said] = [0, '']
  for (const more of named?.map((each) => ['--scenario', each]) ?? [[]]) {
    const ended = await conformance([...tested(url), ...args, ...more, '-o', output])
    exit = Math.max(exit, ended.exit)
    said += ended.said
  }
  await writeFile(join(output, 'output.txt'), said)
  // A single scenario that the revision does not have is skipped, with exit code 0 and no result.
  const absent = scenario !== undefined && exit === 0
  const scenarios = await readScenarios(
    output,
    absent ? [] : [failed('unfinished', 'The scenario did not finish')],
    leg,
  )
  if (scenarios.length === 0 && !absent) throw new Error(`The suite did not run:\n${said}`)
  const missing = (required ?? []).filter((wanted) => !scenarios.some((ran) => ran.name === wanted))
  return {
    name,
    exit,
    scored: [
      ...scenarios.filter((ran) => required?.includes(ran.name) ?? true),
      ...missing.map((wanted) => ({ name: wanted, checks: [failed('missing', 'The suite did not run it')] })),
    ],
    unscored: scenarios.filter((ran) => required && !required.includes(ran.name)),
  }
}

const plan = await planned()
const into = await mkdtemp(join(tmpdir(), 'sluice-conformance-'))
const fixture = client
  ? { url: '', close: async () => {} }
  : cell
    ? await serveThrough(cell, direct !== undefined)
    : await startServing(runtime)
const runs: Ran[] = []
try {
  // One after the other, because the tools that change the lists would notify the others' subscriptions.
  for (const run of plan) runs.push(await perform(run, fixture.url, into))
  // Extensions belong to no revision, so none of them has the scenario.
  if (!client && scenario !== undefined && only === undefined && runs.every(({ scored }) => scored.length === 0))
    runs.push(await perform({ name: 'extension', args: ['--scenario', scenario] }, fixture.url, into))
} finally {
  await fixture.close()
}
if (runtime !== 'node') console.log(`on ${runtime}`)
if (cell) console.log(`${direct === undefined ? 'through the gateway' : 'direct'}, upstream ${cell}`)
const shown = runs.filter(({ scored }) => scored.length > 0)
console.log(shown.length > 0 ? table(shown) : `${only} has no scenario "${scenario}"`)
for (const line of shown.flatMap(remarks)) console.log(line)
const unexpected = through !== undefined && cell ? surprises(cell, shown) : undefined
for (const line of unexpected ?? []) console.log(line)
if (unexpected?.length === 0)
  console.log('As expected: test/conformance/through/expected.ts names what does not pass, and why')
if (shown.length > 0 && (unexpected ? unexpected.length === 0 : shown.every(passed)))
  await rm(into, { recursive: true })
else {
  console.log(`What the suite said and measured: ${into}`)
  process.exitCode = 1
}
