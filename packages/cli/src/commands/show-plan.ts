/** Shows what `import` and `protect` would do, and asks. Secrets are not shown. */

import type { TargetConfig } from '../clients/config-file.ts'
import type { ImportedServer } from '../clients/entries.ts'
import type { Plan, PlannedServer } from '../clients/plan.ts'
import { isUnmoved } from '../clients/secrets.ts'
import { findProcesses } from '../host/control.ts'
import { escapeControls, plural, styled, type Terminal, wrapText } from '../output.ts'
import { prompt } from './call-context.ts'
import type { CommandContext } from './context.ts'

/** Prints the entries of each file: the servers that they become, and those that stay as they are. */
export function showPlan({ terminal }: CommandContext, { servers, left }: Plan, trustHints: boolean): void {
  const files = new Map([...servers, ...left].map(({ file }) => [file.path, file]))
  for (const [path, { client }] of files) {
    terminal.out(styled(terminal, 'bold', `${client.name}: ${escapeControls(path)}`))
    for (const each of servers.filter(({ file }) => file.path === path)) {
      terminal.out(`  ${escapeControls(each.entry.name)}: ${summaryOf(each)}`)
      for (const { from, file } of each.secrets.filter(isUnmoved)) terminal.out(`    ${from} moves to ${file}`)
      for (const name of variablesOf(each.server))
        terminal.out(`    reads ${name} from the environment of the program that starts Sluice`)
    }
    for (const { entry, reason } of left.filter(({ file }) => file.path === path))
      terminal.out(
        styled(
          terminal,
          'yellow',
          `  ${wrapText(terminal, `${escapeControls(entry.name)} stays as it is: it ${reason}.`, 4)}`,
        ),
      )
  }
  if (!servers.some(({ exists }) => !exists)) {
    if (trustHints && servers.length > 0)
      terminal.out(wrapText(terminal, 'Their rules stay as they are: --trust-hints applies to servers that are added.'))
    return
  }
  terminal.out(
    trustHints
      ? 'Tools that say they only read may be called. Every other call waits for your approval.'
      : 'Every call waits for your approval. With --trust-hints, tools that say they only read may be called.',
  )
}

function summaryOf({ name, entry, server, exists }: PlannedServer): string {
  const { command, args = [], url } = server
  const how = escapeControls(url ?? [command, ...args].join(' '))
  const renamed = name === entry.name ? '' : ` as ${name}`
  return exists ? `is in the configuration${renamed}` : `${how}${renamed}`
}

const variablesOf = (server: ImportedServer): readonly string[] => [
  ...new Set([...JSON.stringify(server).matchAll(/\$\{env:([^}]+)\}/g)].map(([, name = '']) => name)),
]

/** Prints the entries before and after. */
export function showChange(terminal: Terminal, { entry, secrets }: PlannedServer, after: unknown): void {
  const hidden = (text: string): string =>
    secrets.reduce((shown, { value }) => shown.replaceAll(JSON.stringify(value).slice(1, -1), '(hidden)'), text)
  const lines = (value: unknown, sign: string): string =>
    JSON.stringify(value, undefined, 2)
      // Lists of words are read as one line.
      .replace(/\[\n\s+("[^{}]*?")\n\s+\]/g, (_, list: string) => `[${list.replace(/\n\s+/g, ' ')}]`)
      .replace(/^/gm, `  ${sign} `)
  terminal.out(`  "${escapeControls(entry.at.join('.'))}":`)
  terminal.out(styled(terminal, 'red', escapeControls(hidden(lines(entry.value, '-')))))
  terminal.out(styled(terminal, 'green', escapeControls(lines(after, '+'))))
}

/** Asks at a terminal. At a pipe nothing is done without `--yes`, because a script would not notice a question. */
export async function confirm({ terminal, signal }: CommandContext, yes: boolean | undefined): Promise<boolean> {
  if (yes) return true
  if (!terminal.isInteractive || !process.stdin.isTTY) {
    terminal.err('Nothing was changed. To do this, run the same command with --yes.')
    return false
  }
  if (/^y(es)?$/i.test((await prompt('Do this? [y/N] ', signal)).trim())) return true
  terminal.err('Nothing was changed.')
  return false
}

/** Says what follows. A Sluice that runs already has read the configuration before, and lacks the new servers. */
export async function showNextSteps(
  terminal: Terminal,
  { file, data }: TargetConfig,
  servers: readonly PlannedServer[],
): Promise<void> {
  terminal.out(`${plural(servers.length, 'server')} in ${file}.`)
  terminal.out('Calls that wait for you: sluice approvals list, or in the browser: sluice console link')
  for (const { pid, upstreams } of await findProcesses(data))
    if (servers.some(({ name }) => !upstreams.some((each) => each.name === name)))
      terminal.out(
        `Sluice runs with the configuration before: stop it with "kill ${pid}". The next client starts it again.`,
      )
}
