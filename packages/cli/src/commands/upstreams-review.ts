/**
 * `sluice upstreams diff`, `accept` and `reject`: reviews the definitions of the servers behind the running Sluice. Access
 * to the data folder makes a person an operator of all tenants.
 */

import { markedText } from 'sluice/approvals'
import type { DefinitionDiff, DiffLine, ReviewedDefinition, Reviewer, UpstreamDiff } from 'sluice/gateway-node'
import { decideIn, diffIn } from '../host/control.ts'
import { owner } from '../host/identities.ts'
import { CommandError, exitCodes, styled, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { UpstreamsCommandOptions } from './upstreams.ts'
import { having, running } from './upstreams.ts'

export interface ReviewOptions extends UpstreamsCommandOptions {
  readonly hash: readonly string[]
  readonly as?: string
}

export async function upstreamsDiff(
  context: CommandContext,
  name: string,
  options: UpstreamsCommandOptions,
): Promise<number> {
  const { terminal } = context
  const { folder, processes } = await running(context, options)
  const diffs = await Promise.all(having(processes, name).map(({ pid }) => diffIn(folder, pid, name)))
  // Processes that see the same are shown once.
  const different = [...new Map(diffs.map((diff) => [diff.hash, diff])).values()]
  if (options.json) terminal.out(toJson(different))
  else for (const diff of different) printDiff(context, diff)
  return exitCodes.ok
}

const isWaiting = ({ state, rejected }: DefinitionDiff): boolean => state !== 'gone' && !rejected

function printDiff({ terminal }: CommandContext, { upstream, definitions, hash }: UpstreamDiff): void {
  if (definitions.length === 0) terminal.out(`Every definition of ${upstream} is accepted, and none is gone.`)
  for (const { id, state, marks, lines, hash: own, rejected } of definitions) {
    const decided = rejected ? `, rejected by ${markedText(rejected.by)}` : ''
    terminal.out(styled(terminal, 'bold', `${markedText(id)} (${state}${decided})`))
    for (const mark of marks) terminal.out(styled(terminal, 'yellow', `  ! ${markedText(mark)}`))
    for (const { change, text } of withContext(lines)) terminal.out(`  ${lineOf(terminal, change, markedText(text))}`)
    if (state !== 'gone') terminal.out(`  hash ${own}`)
    terminal.out('')
  }
  const waiting = definitions.filter(isWaiting)
  if (waiting.length === 0) return
  terminal.out(
    waiting.length === 1
      ? 'One definition waits for a decision. To serve it:'
      : `${waiting.length} definitions wait for a decision. To serve them all:`,
  )
  terminal.out(`  sluice upstreams accept ${upstream} --hash ${hash}`)
}

const lineOf = (terminal: CommandContext['terminal'], change: DiffLine['change'], text: string): string => {
  if (change === 'same') return `  ${text}`
  return change === 'added' ? styled(terminal, 'green', `+ ${text}`) : styled(terminal, 'red', `- ${text}`)
}

/** Lines that stay the same are shown only near a change. */
const contextLines = 3

function withContext(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map((_, at) =>
    lines.slice(Math.max(0, at - contextLines), at + contextLines + 1).some(({ change }) => change !== 'same'),
  )
  return lines.flatMap((line, at) => {
    if (isNear[at]) return [line]
    return at === 0 || isNear[at - 1] ? [{ change: 'same', text: '…' } as const] : []
  })
}

export async function upstreamsDecide(
  context: CommandContext,
  action: 'accept' | 'reject',
  name: string,
  named: readonly string[],
  options: ReviewOptions,
): Promise<number> {
  const { folder, processes } = await running(context, options)
  const by: Reviewer = { subject: options.as ?? owner, via: 'command', tenants: 'all', operator: true }
  let problem = ''
  for (const { pid } of having(processes, name)) {
    const chosen = chosenIn(await diffIn(folder, pid, name), action, named, options.hash)
    // Another process may list another definition. The right one is the one that was shown.
    if (typeof chosen === 'string') {
      problem ||= chosen
      continue
    }
    await decideIn(folder, pid, name, action, { definitions: chosen, by }).catch((thrown: unknown) => {
      throw new CommandError(thrown instanceof Error ? thrown.message : String(thrown))
    })
    for (const { id, hash } of chosen)
      context.terminal.out(`${action === 'accept' ? 'Accepted' : 'Rejected'} ${markedText(id)}, hash ${hash}`)
    return exitCodes.ok
  }
  throw new CommandError(`${problem}\nSee: sluice upstreams diff ${name}`)
}

/** Returns the definitions that the hashes stand for, or what is wrong. The process checks each hash again. */
function chosenIn(
  { definitions, hash: hashOfAll, upstream }: UpstreamDiff,
  action: 'accept' | 'reject',
  named: readonly string[],
  hashes: readonly string[],
): readonly ReviewedDefinition[] | string {
  const isAll = hashes.includes(hashOfAll)
  const wanted = named.length > 0 ? named : undefined
  const offered = definitions.filter(({ state }) => state !== 'gone')
  const ids = wanted?.map((word) => idOf(offered, word))
  const chosen = offered.filter(
    (each) =>
      (ids === undefined || ids.includes(each.id)) && (hashes.includes(each.hash) || (isAll && isWaiting(each))),
  )
  const missing = ids?.find((id) => !chosen.some((each) => each.id === id))
  // An accepted definition is not in the diff. Its name and its hash are enough to reject it.
  if (missing !== undefined && action === 'reject' && ids?.length === 1 && hashes.length === 1)
    return [{ id: missing, hash: hashes[0] ?? '' }]
  if (missing !== undefined)
    return `${upstream} has no ${markedText(missing)} with this hash: it changed, or was decided`
  if (chosen.length === 0) return `No definition of ${upstream} that waits has this hash: it changed, or was decided`
  return chosen.map(({ id, hash }) => ({ id, hash }))
}

/** A definition may be named without its kind if there is only one. */
function idOf(definitions: readonly DefinitionDiff[], word: string): string {
  const found = definitions.filter(({ id, name }) => id === word || name === word)
  if (found.length > 1)
    throw new CommandError(
      `Several definitions are named ${word}: ${found.map(({ id }) => id).join(', ')}`,
      exitCodes.usage,
    )
  return found[0]?.id ?? word
}
