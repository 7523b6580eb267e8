/** `sluice call`: try any MCP server from the terminal. Asks the user what the server asks, and waits for approvals. */

import { ServerError } from 'sluice/client'
import type { Params } from '../client/message.ts'
import { isObject } from '../client/message.ts'
import type { ReachOptions } from '../client/open.ts'
import { explained, openClient } from '../client/open.ts'
import { CommandError, shown, styled } from '../output.ts'
import { readArguments } from './arguments.ts'
import { notice, prompt } from './call-context.ts'
import { complete, getPrompt, listPrompts, listResources, readResource } from './call-explore.ts'
import { repl } from './call-repl.ts'
import { callTool, listTools } from './call-tools.ts'
import type { Around } from './command.ts'

export interface CallOptions extends Omit<ReachOptions, 'signIn'> {
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
  around: Around,
  target: string,
  name: string | undefined,
  pairs: readonly string[],
  { signIn, ...options }: CallOptions,
): Promise<number> {
  const { terminal, signal } = around
  const isAsking = terminal.isTty && process.stdin.isTTY === true
  const ask = (params: Params): Promise<Params> => answer(around, params)
  const print = (text: string): void => terminal.err(text)
  const reach: ReachOptions = {
    quiet: options.json === true,
    ...options,
    ...((signIn || isAsking) && { signIn: { opensBrowser: isAsking, signal, print } }),
  }
  const client = await openClient(target, reach, around.env, {
    ...(options.era && { era: options.era }),
    ...(isAsking && { handlers: { form: ask, url: ask } }),
    signal,
    tasks: true,
    onNotification: (method, params) => notice(terminal, method, params),
  })
  try {
    const context = { ...around, client, target, json: options.json === true, isAsking }
    // With these the words after the target are arguments.
    const words = name === undefined ? [] : [name, ...pairs]
    if (options.repl) return await repl(context)
    if (options.resources) return await listResources(context)
    if (options.read !== undefined) return await readResource(context, options.read)
    if (options.prompts) return await listPrompts(context)
    if (options.prompt !== undefined) return await getPrompt(context, options.prompt, words)
    if (options.complete !== undefined) return await complete(context, options.complete, words)
    return await (name === undefined ? listTools(context) : callTool(context, name, pairs))
  } catch (thrown) {
    if (thrown instanceof ServerError)
      throw new CommandError(`The server refused: ${shown(thrown.message)} (${thrown.code})`)
    throw explained(thrown, target)
  } finally {
    await client.close()
  }
}

/** What the server wants to know, asked field by field. */
async function answer({ terminal, signal }: Around, params: Params): Promise<Params> {
  terminal.err(styled(terminal, 'bold', shown(String(params['message'] ?? 'The server asks:'))))
  if (typeof params['url'] === 'string') {
    terminal.err(`Open ${shown(params['url'])}`)
    const said = await prompt('Enter when done, n to decline … ', signal)
    return { action: said.trim().toLowerCase().startsWith('n') ? 'decline' : 'accept' }
  }
  const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {}
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const pairs: string[] = []
  for (const [name, property] of Object.entries(properties)) {
    const choices = isObject(property) && Array.isArray(property['enum']) ? ` (${property['enum'].join(', ')})` : ''
    const said = await prompt(`${shown(name)}${shown(choices)}: `, signal)
    if (said !== '') pairs.push(`${name}=${said}`)
  }
  return { action: 'accept', content: readArguments(pairs, schema) }
}
