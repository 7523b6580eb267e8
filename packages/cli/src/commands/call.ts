/** `sluice call`: tries any MCP server from the terminal. Prompts for the server's questions and waits for approvals. */

import { setImmediate as endOfTurn } from 'node:timers/promises'
import { ServerError } from 'sluice/client'
import type { Params } from '../client/message.ts'
import { isObject } from '../client/message.ts'
import type { ConnectOptions } from '../client/open.ts'
import { openClient, toCommandError } from '../client/open.ts'
import type { Terminal } from '../output.ts'
import { CommandError, escapeControls, exitCodes, styled } from '../output.ts'
import { readArguments } from './arguments.ts'
import { type CallContext, printNotification, prompt } from './call-context.ts'
import { complete, getPrompt, listPrompts, listResources, readResource } from './call-explore.ts'
import { repl } from './call-repl.ts'
import { callTool, listTools } from './call-tools.ts'
import type { CommandContext } from './context.ts'

export interface CallOptions extends Omit<ConnectOptions, 'signIn'> {
  readonly json?: boolean
  readonly era?: 'modern' | 'legacy'
  readonly signIn?: boolean
  readonly resources?: boolean
  readonly read?: string
  readonly prompts?: boolean
  readonly prompt?: string
  readonly complete?: string
  readonly repl?: boolean
}

export async function call(
  context: CommandContext,
  target: string,
  name: string | undefined,
  pairs: readonly string[],
  { signIn, ...options }: CallOptions,
): Promise<number> {
  const { terminal, signal } = context
  const isAsking = terminal.isTty && process.stdin.isTTY === true
  const ask = (params: Params): Promise<Params> => answerElicitation(context, params)
  const print = (text: string): void => terminal.err(text)
  const stderrTail = createTail()
  const connectOptions: ConnectOptions = {
    ...options,
    // In many calls a person wants to see what the server says meanwhile. Otherwise only a failure makes it interesting.
    onStderr: options.repl && !options.json ? (text) => process.stderr.write(text) : stderrTail.add,
    ...((signIn || isAsking) && { signIn: { opensBrowser: isAsking, signal, print } }),
  }
  const client = await openStarted(stderrTail, terminal, () =>
    openClient(target, connectOptions, context.env, {
      ...(options.era && { era: options.era }),
      ...(isAsking && { handlers: { form: ask, url: ask } }),
      signal,
      tasks: true,
      onNotification: (method, params) => printNotification(terminal, method, params),
    }),
  )
  try {
    const callContext = { ...context, client, target, json: options.json === true, isAsking }
    // With these the words after the target are arguments.
    const words = name === undefined ? [] : [name, ...pairs]
    const code = await act(callContext, options, words)
    if (code !== exitCodes.ok) await stderrTail.print(terminal)
    return code
  } catch (thrown) {
    await stderrTail.print(terminal)
    if (thrown instanceof ServerError)
      throw new CommandError(`The server refused the call: ${escapeControls(thrown.message)} (${thrown.code})`)
    throw toCommandError(thrown, target)
  } finally {
    await client.close()
  }
}

/** Does what the options ask for. By default it lists the tools, or calls the one that is named first. */
async function act(context: CallContext, options: CallOptions, words: readonly string[]): Promise<number> {
  if (options.repl) return repl(context)
  if (options.resources) return listResources(context)
  if (options.read !== undefined) return readResource(context, options.read)
  if (options.prompts) return listPrompts(context)
  if (options.prompt !== undefined) return getPrompt(context, options.prompt, words)
  if (options.complete !== undefined) return complete(context, options.complete, words)
  const [name, ...pairs] = words
  return name === undefined ? listTools(context) : callTool(context, name, pairs)
}

/** The last characters that a started command wrote to its stderr. */
interface StderrTail {
  add(text: string): void
  print(terminal: Terminal): Promise<void>
}

const maxTail = 16 * 1024

function createTail(): StderrTail {
  let tail = ''
  return {
    add(text) {
      tail = `${tail}${text}`.slice(-maxTail)
    },
    async print(terminal) {
      // What the server wrote before its answer may be read after it, in the same turn of the event loop.
      await endOfTurn()
      if (tail.trim() !== '') terminal.err(escapeControls(tail.trimEnd()))
      tail = ''
    },
  }
}

/** Opens a client. If that fails, prints first what the started command wrote, because it may say why. */
async function openStarted<T>(tail: StderrTail, terminal: Terminal, open: () => Promise<T>): Promise<T> {
  try {
    return await open()
  } catch (thrown) {
    await tail.print(terminal)
    throw thrown
  }
}

/** Prompts for the fields of an elicitation, one by one. */
async function answerElicitation({ terminal, signal }: CommandContext, params: Params): Promise<Params> {
  terminal.err(styled(terminal, 'bold', escapeControls(String(params['message'] ?? 'The server asks:'))))
  if (typeof params['url'] === 'string') {
    terminal.err(`Open ${escapeControls(params['url'])}`)
    const reply = await prompt('Press Enter when done, or n to decline … ', signal)
    return { action: reply.trim().toLowerCase().startsWith('n') ? 'decline' : 'accept' }
  }
  const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {}
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const pairs: string[] = []
  for (const [name, property] of Object.entries(properties)) {
    const choices = choicesOf(property)
    const offered = choices.length > 0 ? ` (${choices.join(', ')})` : ''
    let reply: string
    // A wrong word would end the question without an answer, so it is asked again.
    do reply = await prompt(escapeControls(`${name}${offered}: `), signal)
    while (reply !== '' && choices.length > 0 && !choices.includes(reply))
    if (reply !== '') pairs.push(`${name}=${reply}`)
  }
  return { action: 'accept', content: readArguments(pairs, schema) }
}

/** Returns the values that a field accepts, from `enum` or the constants of `oneOf`. Empty if every value is accepted. */
function choicesOf(property: unknown): readonly string[] {
  const { enum: listed, oneOf } = isObject(property) ? property : {}
  if (Array.isArray(listed)) return listed.map(String)
  return Array.isArray(oneOf) ? oneOf.flatMap((each) => (isObject(each) ? [String(each['const'])] : [])) : []
}
