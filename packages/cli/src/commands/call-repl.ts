/** `sluice call --repl`: one connection, many calls. */

import { ClientError, ServerError } from 'sluice/client'
import { didYouMean } from 'sluice/extend'
import { readLines } from 'sluice/node'
import { splitWords } from '../client/open.ts'
import { CommandError, escapeControls, exitCodes, styled } from '../output.ts'
import { type CallContext, prompt } from './call-context.ts'
import { complete, getPrompt, listPrompts, listResources, readResource } from './call-explore.ts'
import { callTool, listTools } from './call-tools.ts'

type Act = (context: CallContext, args: readonly string[]) => Promise<number>

const acts: { readonly [name: string]: readonly [usage: string, act: Act] } = {
  tools: ['tools', (context) => listTools(context)],
  call: ['call <tool> [key=value …]', (context, [name = '', ...pairs]) => callTool(context, name, pairs)],
  resources: ['resources', (context) => listResources(context)],
  read: ['read <uri>', (context, [uri = '']) => readResource(context, uri)],
  prompts: ['prompts', (context) => listPrompts(context)],
  prompt: ['prompt <name> [key=value …]', (context, [name = '', ...pairs]) => getPrompt(context, name, pairs)],
  complete: ['complete <prompt or uri> [key=value …]', (context, [of = '', ...pairs]) => complete(context, of, pairs)],
}
const usages = [...Object.values(acts).map(([usage]) => usage), 'exit']

/** Reads lines until `exit` or the end of the input. A line that fails does not end it. */
export async function repl(context: CallContext): Promise<number> {
  const { terminal, isAsking, signal } = context
  if (isAsking) terminal.err(styled(terminal, 'dim', 'help shows what there is, exit ends it'))
  const lines = isAsking ? typed(signal) : readLines(process.stdin)
  for await (const line of lines) {
    const [name = '', ...args] = splitWords(line)
    if (name === 'exit' || name === 'quit') break
    if (name === 'help') for (const usage of usages) terminal.out(usage)
    else if (name !== '') await perform(context, name, args)
  }
  return exitCodes.ok
}

async function* typed(signal: AbortSignal): AsyncGenerator<string, void, undefined> {
  while (!signal.aborted) yield await prompt('> ', signal)
}

async function perform(context: CallContext, name: string, args: readonly string[]): Promise<void> {
  const { terminal } = context
  const [, act] = acts[name] ?? []
  if (!act) {
    const meant = didYouMean(name, Object.keys(acts))
    terminal.err(`Unknown: ${escapeControls(name)}${meant}. help shows what there is.`)
    return
  }
  try {
    await act(context, args)
  } catch (thrown) {
    const isExpected = [ServerError, ClientError, CommandError].some((kind) => thrown instanceof kind)
    if (!isExpected || (thrown instanceof ClientError && thrown.reason === 'closed')) throw thrown
    terminal.err(styled(terminal, 'red', escapeControls(thrown instanceof Error ? thrown.message : String(thrown))))
  }
}
