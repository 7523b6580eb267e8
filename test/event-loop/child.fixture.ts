/**
 * The five servers in one process that measures its own event loop. Started by `measure.ts`, which sends the requests
 * from outside, so that a client's work is not counted.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { open as fitness } from '@sluice/fitness'
import { open as knowledge } from '@sluice/knowledge'
import { open as lisp } from '@sluice/lisp'
import { open as memory } from '@sluice/memory'
import { open as routes } from '@sluice/routes'
import type { OpenedServer, OpenServer } from 'sluice'
import { createServer, nodeClock, serveHttp } from 'sluice/node'
import { customLayer, elicitation } from 'sluice/plugins'
import { fill } from './fill.ts'

/** The longest turn: by the thread's CPU time, which a busy machine does not lengthen, and by wall time. */
export interface Turn {
  readonly cpuMs: number
  readonly wallMs: number
}
export interface Started {
  readonly urls: { readonly [server: string]: string }
  readonly tools: { readonly [server: string]: readonly string[] }
}

const servers: { readonly [name: string]: OpenServer } = { fitness, knowledge, lisp, memory, routes }
const logger = { info() {}, warn() {}, error() {} }
const rows = Number(process.argv[2] ?? 1000)
const root = mkdtempSync(join(tmpdir(), 'sluice-turns-'))
process.on('exit', () => rmSync(root, { recursive: true, force: true }))
process.on('disconnect', () => process.exit())

/** Approved beforehand, because the work of a tool is measured, not its approval. */
const approved = ({ tools = [], ...definition }: OpenedServer['definition']): OpenedServer['definition'] => ({
  ...definition,
  tools: tools.map((tool) => ({ ...tool, policy: { ...tool.policy, approval: 'never' as const } })),
})

const packages = fileURLToPath(new URL('../../packages', import.meta.url))
const urls: Record<string, string> = {}
const tools: Record<string, readonly string[]> = {}
for (const [name, open] of Object.entries(servers)) {
  const folder = join(root, name)
  const argument = await fill(name, folder, rows)
  const env = { HOME: root, PATH: process.env['PATH'], SLUICE_MEMORY_CODE: packages }
  const opened = await open({ folder, env, clock: nodeClock, logger, ...(argument !== undefined && { argument }) })
  const definition = approved(opened.definition)
  const server = createServer(definition, {
    clock: nodeClock,
    use: [elicitation(), ...(opened.layers ?? []).map(customLayer)],
  })
  opened.started?.(server)
  const maxBodyBytes = opened.maxMessageBytes ?? 1024 * 1024
  urls[name] = (await serveHttp(server, { port: 0, sessions: false, maxBodyBytes })).url
  tools[name] = (definition.tools ?? []).map(({ name }) => name)
}

const cpuMs = (): number => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
let longest: Turn = { cpuMs: 0, wallMs: 0 }
let measuring = false
function turn(cpu: number, wall: number): void {
  const [cpuNow, wallNow] = [cpuMs(), performance.now()]
  longest = { cpuMs: Math.max(longest.cpuMs, cpuNow - cpu), wallMs: Math.max(longest.wallMs, wallNow - wall) }
  if (measuring) setImmediate(turn, cpuNow, wallNow)
  // After the turn in which the end was requested, because the answer may have been sent in the middle of it.
  else process.send?.(longest)
}
process.on('message', (word) => {
  measuring = word === 'begin'
  if (!measuring) return
  // The garbage of the previous request does not count for this one.
  globalThis.gc?.()
  longest = { cpuMs: 0, wallMs: 0 }
  setImmediate(() => {
    process.send?.('begun')
    setImmediate(turn, cpuMs(), performance.now())
  })
})
process.send?.({ urls, tools } satisfies Started)
