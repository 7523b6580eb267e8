/**
 * `npm run bench`: Sluice and its peers side by side, in one run on one machine.
 *
 *   npm run bench                      every section, tables for people
 *   npm run bench -- http stdio        some sections
 *   npm run bench -- --json            one JSON object on stdout: section → contender → figure
 *
 * Absolute figures belong to the machine; the ratios within a run are what travels. Progress and contenders
 * that could not be measured go to stderr. A figure that is not reached does not fail the run: this is not a test.
 */
import { cpus, loadavg } from 'node:os'
import { type Goal, progress, reached, type Section } from './lib/figures.ts'
import { goalsText, tableText } from './lib/report.ts'
import { bundle } from './sections/bundle.ts'
import { cells } from './sections/cells.ts'
import { client } from './sections/client.ts'
import { cold } from './sections/cold.ts'
import { documents } from './sections/documents.ts'
import { field } from './sections/field.ts'
import { gateway } from './sections/gateway.ts'
import { gatewayLists } from './sections/gateway-lists.ts'
import { gatewayPeers } from './sections/gateway-peers.ts'
import { growth } from './sections/growth.ts'
import { handle } from './sections/handle.ts'
import { http } from './sections/http.ts'
import { install } from './sections/install.ts'
import { overload } from './sections/overload.ts'
import { postgres } from './sections/postgres.ts'
import { profile } from './sections/profile.ts'
import { redis } from './sections/redis.ts'
import { servers } from './sections/servers.ts'
import { space } from './sections/space.ts'
import { stack } from './sections/stack.ts'
import { stdio } from './sections/stdio.ts'
import { tasksSection } from './sections/tasks.ts'
import { tokens } from './sections/tokens.ts'

const sections: Record<string, () => Promise<Section>> = {
  http,
  redis,
  postgres,
  stack,
  field,
  overload,
  handle,
  stdio,
  profile,
  client,
  gateway,
  'gateway-lists': gatewayLists,
  'gateway-peers': gatewayPeers,
  install,
  cold,
  bundle,
  growth,
  space,
  cells,
  documents,
  tokens,
  tasks: tasksSection,
  servers,
}

const args = process.argv.slice(2)
const asJson = args.includes('--json')
const chosen = args.filter((arg) => arg !== '--json')
const unknown = chosen.filter((name) => !(name in sections))
if (unknown.length > 0) {
  progress(`unknown: ${unknown.join(', ')}. Sections: ${Object.keys(sections).join(', ')}; option: --json`)
  process.exit(2)
}

/** More digits than the measurement has would only look exact. */
const thousandths = (_key: string, value: unknown): unknown =>
  typeof value === 'number' ? Math.round(value * 1_000) / 1_000 : value

const figures: Record<string, unknown> = {}
const goals: Goal[] = []
if (!asJson) console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}`)
const [load = 0] = loadavg()
if (load > 0.5) progress(`load average ${load.toFixed(1)}: other work is running, ratios will be less steady`)
for (const [name, run] of Object.entries(sections)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  const section = await run()
  figures[name] = section.figures
  goals.push(...section.goals)
  if (!asJson) for (const table of section.tables) console.log(`\n${tableText(table)}`)
}

const promised = goals.map((goal) => ({ ...goal, reached: reached(goal) }))
if (asJson) console.log(JSON.stringify({ ...figures, promised }, thousandths))
else if (goals.length > 0) console.log(`\n${goalsText(goals)}`)
