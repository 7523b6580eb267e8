/** `sluice protect` and `unprotect`: a client's servers go through Sluice, and go back to what they were. */

import { backupOf, hashOf, keepBackup, readRecord, recordsOf, removeRecord } from '../clients/backup.ts'
import { targetConfig, withServers } from '../clients/config-file.ts'
import { connectedName, toProtectedEntry } from '../clients/entries.ts'
import type { ClientFile } from '../clients/file.ts'
import { entriesIn, readClientFile, withOriginals, withValues } from '../clients/file.ts'
import { clientNamed, fileOf } from '../clients/find.ts'
import { planImport } from '../clients/plan.ts'
import { machineOf } from '../clients/table.ts'
import { replaceFile } from '../clients/write.ts'
import type { Tree } from '../config/tree.ts'
import { commandLine } from '../host/own-command.ts'
import { CommandError, exitCodes, plural } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { ImportOptions } from './import.ts'
import { hasChanges, planOptions, writeServers } from './import.ts'
import { confirm, showChange, showNextSteps, showPlan } from './show-plan.ts'

export async function protect(
  context: CommandContext,
  id: string,
  named: string | undefined,
  options: ImportOptions,
): Promise<number> {
  const { terminal, cwd, env } = context
  const machine = machineOf(env)
  const client = clientNamed(id)
  const file = fileOf(client, named, cwd, machine)
  const target = await targetConfig(context, options.config)
  const before: ClientFile = { ...file, text: unprotectedText(target.data, file) }
  const names = new Map(entriesIn(file).map(({ at, value }) => [at.join('\0'), connectedName(value)]))
  const plan = planImport([before], {
    ...planOptions(target, machine, options),
    nameOf: ({ at }) => names.get(at.join('\0')),
  })
  const changes = plan.servers.map((planned) => ({
    planned,
    at: planned.entry.at,
    value: toProtectedEntry(
      planned.entry.value as Tree,
      [...commandLine, 'connect', planned.name, ...target.arguments],
      client,
    ),
  }))
  const after = withValues(before, changes)
  showPlan(context, plan, options.trustHints === true)
  if (plan.servers.length === 0) {
    terminal.out(`${client.name} has no server to protect in ${file.path}.`)
    return exitCodes.ok
  }
  if (after === file.text && !hasChanges(target, plan.servers, options)) {
    terminal.out(`${client.name} is protected already: ${plural(plan.servers.length, 'server')} in ${file.path}.`)
    return exitCodes.ok
  }
  terminal.out(`\nChanges ${file.path}, and keeps a backup in ${target.data}:`)
  for (const { planned, value } of changes) showChange(terminal, planned, value)
  const config = await withServers(target, plan.servers, options.trustHints === true)
  if (!(await confirm(context, options.yes))) return exitCodes.failed
  refuseChanged(file)
  writeServers(target, plan.servers, config)
  keepBackup(target.data, client.id, file.path, before.text, after)
  replaceFile(file.path, after, file.text)
  terminal.out(`${client.name} is protected. ${client.reload}`)
  await showNextSteps(terminal, target, plan.servers)
  terminal.out(`To undo: sluice unprotect ${client.id}${named === undefined ? '' : ` ${named}`}`)
  return exitCodes.ok
}

/** Returns the text without Sluice, so that a second `protect` never takes its own work for the original. */
function unprotectedText(data: string, file: ClientFile): string {
  const record = readRecord(data, file.client.id, file.path)
  if (!record) return file.text
  const original = backupOf(record)
  return hashOf(file.text) === record.written ? original : withOriginals(file, original)
}

/** Clients write their files too. What they wrote while a person read the question must not be lost. */
function refuseChanged({ client, path, text }: ClientFile): void {
  if (readClientFile(client, path)?.text !== text)
    throw new CommandError(`${path} was changed meanwhile, so nothing was done. Run the command again.`)
}

const sluiceEntriesIn = (file: ClientFile): number => entriesIn(file).filter(({ isSluice }) => isSluice).length

export async function unprotect(
  context: CommandContext,
  id: string,
  named: string | undefined,
  options: Pick<ImportOptions, 'config' | 'yes'>,
): Promise<number> {
  const { terminal, cwd, env } = context
  const client = clientNamed(id)
  const { data, file: config } = await targetConfig(context, options.config)
  const wanted = named === undefined ? undefined : fileOf(client, named, cwd, machineOf(env)).path
  const records = recordsOf(data, client.id).filter(({ file }) => wanted === undefined || file === wanted)
  if (records.length === 0)
    throw new CommandError(
      `${client.name} is not protected with the data in ${data}. If it was protected with another configuration, name it with --config.`,
    )
  const restored = records.map((record) => {
    const now = readClientFile(client, record.file)
    const original = backupOf(record)
    const isUntouched = now === undefined || hashOf(now.text) === record.written
    return { record, now, isUntouched, text: isUntouched ? original : withOriginals(now, original) }
  })
  for (const { record, now, isUntouched, text } of restored) {
    const count = now ? sluiceEntriesIn(now) - sluiceEntriesIn({ ...now, text }) : 0
    terminal.out(
      isUntouched
        ? `Puts back ${record.file} as it was.`
        : `${record.file} was changed since. Puts back ${plural(count, 'server')} and keeps the changes; the whole file as it was stays in ${record.backup}.`,
    )
  }
  if (!(await confirm(context, options.yes))) return exitCodes.failed
  for (const { record, now, isUntouched, text } of restored) {
    if (now) refuseChanged(now)
    replaceFile(record.file, text, now?.text)
    removeRecord(data, record, !isUntouched)
  }
  terminal.out(`${client.name} is not protected any more. ${client.reload} Its servers stay in ${config}.`)
  return exitCodes.ok
}
