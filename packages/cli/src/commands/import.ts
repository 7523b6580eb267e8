/** `sluice import`: takes the servers of MCP clients into the configuration. The files of the clients are not changed. */

import { join } from 'node:path'
import { makePrivateFolder, replacePrivateFile } from 'sluice/node'
import type { TargetConfig } from '../clients/config-file.ts'
import { targetConfig, untrusted, withServers } from '../clients/config-file.ts'
import { findFiles } from '../clients/find.ts'
import type { PlannedServer } from '../clients/plan.ts'
import { planImport } from '../clients/plan.ts'
import { isUnmoved } from '../clients/secrets.ts'
import { clients, machineOf } from '../clients/table.ts'
import { replaceFile } from '../clients/write.ts'
import { dataFolder } from '../host/store.ts'
import { CommandError, exitCodes } from '../output.ts'
import type { CommandContext } from './context.ts'
import { confirm, showNextSteps, showPlan } from './show-plan.ts'

export interface ImportOptions {
  readonly config?: string
  readonly trustHints?: boolean
  readonly overwrite?: boolean
  readonly yes?: boolean
}

export async function importServers(
  context: CommandContext,
  named: readonly string[],
  options: ImportOptions,
): Promise<number> {
  const { terminal, cwd, env } = context
  const machine = machineOf(env)
  const files = findFiles(named, cwd, machine)
  if (files.length === 0)
    throw new CommandError(
      `No MCP client has a file at its usual place (${clients.map(({ name }) => name).join(', ')}). Name one: sluice import <file>`,
    )
  const target = await targetConfig(context, options.config)
  const plan = planImport(files, planOptions(target, machine, options))
  showPlan(context, plan, options.trustHints === true)
  if (!hasChanges(target, plan.servers, options)) {
    terminal.out(`Nothing to import: ${target.file} has all that can be imported.`)
    return exitCodes.ok
  }
  const text = await withServers(target, plan.servers, options.trustHints === true)
  terminal.out(`${target.text === undefined ? 'Writes' : 'Adds to'} ${target.file}.`)
  if (!(await confirm(context, options.yes))) return exitCodes.failed
  writeServers(target, plan.servers, text)
  await showNextSteps(terminal, target, plan.servers)
  terminal.out(`Run them: sluice start --config ${target.file}. Let a client use them: sluice protect <client>.`)
  return exitCodes.ok
}

export const planOptions = (target: TargetConfig, machine: ReturnType<typeof machineOf>, options: ImportOptions) => ({
  ...{ machine, existing: target.servers ?? {}, secrets: join(target.data, 'secrets') },
  overwrite: options.overwrite === true,
})

/** Whether a server is new, a secret differs from the one in its file, or hints are to be believed from now on. */
export const hasChanges = (
  target: TargetConfig,
  servers: readonly PlannedServer[],
  { trustHints = false }: ImportOptions,
): boolean =>
  (trustHints && untrusted(target, servers).length > 0) ||
  servers.some(({ exists, secrets }) => !exists || secrets.some(isUnmoved))

/** Writes the secrets first, because a configuration that names a missing file does not start. */
export function writeServers(target: TargetConfig, servers: readonly PlannedServer[], text: string): void {
  const secrets = servers.flatMap((each) => each.secrets)
  dataFolder(target.data)
  if (secrets.length > 0) makePrivateFolder(join(target.data, 'secrets'))
  for (const { file, value } of secrets) replacePrivateFile(file, value)
  if (text !== target.text) replaceFile(target.file, text)
}
