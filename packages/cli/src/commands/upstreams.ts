/** `sluice upstreams`: shows and restarts the servers behind the running Sluice, and prints what they wrote to stderr. */

import { didYouMean } from 'sluice/extend'
import type { UpstreamConnection, UpstreamState } from 'sluice/gateway-node'
import { loadConfig } from '../config/load.ts'
import type { RunningProcess } from '../host/control.ts'
import { findProcesses, restartIn } from '../host/control.ts'
import { dataFolder } from '../host/store.ts'
import { problemOf } from '../host/upstreams.ts'
import { CommandError, escapeControls, exitCodes, table, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface UpstreamsCommandOptions {
  readonly config?: string
  readonly data?: string
  readonly json?: boolean
}

export async function upstreamsList(context: CommandContext, options: UpstreamsCommandOptions): Promise<number> {
  const { terminal } = context
  const { processes } = await running(context, options)
  if (options.json) {
    terminal.out(toJson(processes))
    return exitCodes.ok
  }
  const rows = processes.flatMap(({ pid, upstreams }) =>
    upstreams.map((state) => {
      const live = state.connections.filter(({ state: each }) => each === 'ready')
      const restarts = state.connections.reduce((sum, each) => sum + each.restarts, 0)
      return [
        ...[state.name, summaryOf(state), String(state.tools), String(live.length), String(restarts), String(pid)],
        escapeControls(problemOf(state) ?? ''),
      ]
    }),
  )
  terminal.out(
    table(terminal, ['UPSTREAM', 'STATE', 'TOOLS', 'CONNECTIONS', 'RESTARTS', 'PROCESS', 'LAST ERROR'], rows),
  )
  for (const { name, connections } of processes.flatMap(({ upstreams }) => upstreams))
    for (const { key, differs } of connections)
      if (differs !== undefined)
        terminal.out(`${name}: calls of ${escapeControls(key)} are refused: ${escapeControls(differs)} differs there`)
  for (const { name, leftOut } of processes.flatMap(({ upstreams }) => upstreams))
    for (const { kind, name: definition, reason } of leftOut)
      terminal.out(`${name}: the ${kind} ${escapeControls(definition)} is not served: ${escapeControls(reason)}`)
  return exitCodes.ok
}

/** Returns one word for the state of an upstream. */
function summaryOf({ connections, lastError, definitions }: UpstreamState): string {
  const worst = (['crash-loop', 'backoff'] as const).find((each) => connections.some(({ state }) => state === each))
  if (worst) return worst
  if (lastError !== undefined) return 'unavailable'
  if (connections.some(({ state }) => state === 'ready')) return 'ready'
  return definitions === 'unknown' ? 'starting' : 'idle'
}

export async function upstreamsRestart(
  context: CommandContext,
  name: string,
  options: UpstreamsCommandOptions,
): Promise<number> {
  const { folder, processes } = await running(context, options)
  for (const { pid } of having(processes, name)) {
    await restartIn(folder, pid, name).catch((thrown: unknown) => {
      const cause = thrown instanceof Error ? thrown.message : String(thrown)
      throw new CommandError(`${name} was ended and does not start: ${cause}\nSee: sluice upstreams logs ${name}`)
    })
    context.terminal.out(`Restarted ${name} in process ${pid}`)
  }
  return exitCodes.ok
}

export async function upstreamsLogs(
  context: CommandContext,
  name: string,
  options: UpstreamsCommandOptions,
): Promise<number> {
  const { terminal } = context
  const { processes } = await running(context, options)
  const connections = having(processes, name).flatMap(
    ({ upstreams }) => upstreams.find((each) => each.name === name)?.connections ?? [],
  )
  if (options.json) terminal.out(toJson(connections))
  else if (connections.length === 0) terminal.err(`${name} has not been started yet: it starts with the first call`)
  else for (const each of connections) printLog(context, each)
  return exitCodes.ok
}

function printLog({ terminal }: CommandContext, connection: UpstreamConnection): void {
  const { key, state, pid, stderr = [], lastError, skippedLines = 0 } = connection
  const about = [state, ...(pid === undefined ? [] : [`pid ${pid}`])].join(', ')
  terminal.out(`# ${escapeControls(key)} (${about})`)
  for (const line of stderr) terminal.out(escapeControls(line))
  if (skippedLines > 0) terminal.out(`# ${skippedLines} lines on stdout were not messages and were skipped`)
  if (lastError !== undefined) terminal.out(`# ${escapeControls(lastError)}`)
}

export async function running(
  { env, cwd }: CommandContext,
  options: UpstreamsCommandOptions,
): Promise<{ readonly folder: string; readonly processes: readonly RunningProcess[] }> {
  const { config } = await loadConfig({
    file: options.config,
    cwd,
    env,
    flags: { data: options.data },
    fallBackToHome: true,
  })
  const folder = dataFolder(config.data)
  const processes = await findProcesses(folder)
  if (processes.length > 0) return { folder, processes }
  throw new CommandError(
    `No Sluice with upstreams runs on ${folder}. Start one with "sluice start" or "sluice wrap", or name its data folder with --data.`,
  )
}

/** Returns the processes that have this upstream. */
export function having(processes: readonly RunningProcess[], name: string): readonly RunningProcess[] {
  const found = processes.filter(({ upstreams }) => upstreams.some((each) => each.name === name))
  if (found.length > 0) return found
  const names = processes.flatMap(({ upstreams }) => upstreams.map((each) => each.name))
  throw new CommandError(
    `Unknown upstream "${name}"${didYouMean(name, names) || '.'} Running: ${[...new Set(names)].join(', ')}`,
    exitCodes.usage,
  )
}
