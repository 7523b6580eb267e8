/** `sluice call`: tries any MCP server from the terminal. Prompts for the server's questions and waits for approvals. */

import { createInterface } from 'node:readline/promises'
import type { Client } from '../client/client.ts'
import type { Params } from '../client/message.ts'
import { isObject, RemoteError } from '../client/message.ts'
import type { ConnectOptions } from '../client/open.ts'
import { openClient } from '../client/open.ts'
import { CommandError, escapeControls, exitCodes, styled, type Terminal, toJson, wrapText } from '../output.ts'
import { suggest } from '../suggest.ts'
import { readArguments } from './arguments.ts'
import type { CommandContext } from './context.ts'

export interface CallOptions extends ConnectOptions {
  readonly json?: boolean
  readonly era?: 'modern' | 'legacy'
}

export async function call(
  context: CommandContext,
  target: string,
  name: string | undefined,
  pairs: readonly string[],
  options: CallOptions,
): Promise<number> {
  const { terminal, signal } = context
  const isAsking = terminal.isTty && process.stdin.isTTY === true
  const client = await openClient(target, { quiet: options.json === true, ...options }, context.env, {
    ...(options.era && { era: options.era }),
    ...(isAsking && { answer: (method, params) => answerElicitation(context, method, params) }),
    onNotification: (method, params) => printNotification(terminal, method, params),
  })
  try {
    const tools = await allTools(client, signal)
    if (name === undefined) {
      terminal.out(options.json ? toJson(tools) : listOf(terminal, client, tools))
      return exitCodes.ok
    }
    const tool = tools.find((each) => each['name'] === name)
    if (!tool) {
      const meant = suggest(
        name,
        tools.map((each) => String(each['name'])),
      )
      throw new CommandError(
        `${target} has no tool "${name}"${meant ? `; did you mean ${meant}?` : ''}. Run sluice call ${target} to list its tools.`,
      )
    }
    const args = readArguments(pairs, isObject(tool['inputSchema']) ? tool['inputSchema'] : {})
    let result = await run(client, name, args, signal)
    for (let approval = approvalOf(result); approval && isAsking; approval = approvalOf(result)) {
      terminal.err(`${styled(terminal, 'yellow', 'Waiting for an approval')}: ${escapeControls(approval.message)}`)
      terminal.err(approval.url ? `Decide at ${approval.url}` : `Decide with: sluice approvals approve ${approval.id}`)
      await prompt('Press Enter after the decision … ', signal)
      result = await run(client, name, args, signal)
    }
    terminal.out(options.json ? toJson(result) : textOf(terminal, result))
    return result['isError'] === true ? exitCodes.failed : exitCodes.ok
  } finally {
    await client.close()
  }
}

async function run(client: Client, name: string, args: Params, signal: AbortSignal): Promise<Params> {
  try {
    return await client.request('tools/call', { name, arguments: args, _meta: { progressToken: 1 } }, signal)
  } catch (thrown) {
    if (thrown instanceof RemoteError)
      throw new CommandError(`The server refused the call: ${escapeControls(thrown.message)}`)
    throw thrown
  }
}

async function allTools(client: Client, signal: AbortSignal): Promise<readonly Params[]> {
  const tools: Params[] = []
  let cursor: unknown
  do {
    const page = await client.request('tools/list', cursor === undefined ? {} : { cursor }, signal)
    tools.push(...(Array.isArray(page['tools']) ? page['tools'].filter(isObject) : []))
    cursor = page['nextCursor']
  } while (cursor !== undefined && tools.length < 10_000)
  return tools
}

function listOf(terminal: Terminal, client: Client, tools: readonly Params[]): string {
  const { name = 'A server', version = '' } = client.server
  const lines = tools.flatMap((tool) => {
    const schema = isObject(tool['inputSchema']) ? tool['inputSchema'] : {}
    const required: readonly unknown[] = Array.isArray(schema['required']) ? schema['required'] : []
    const names = Object.keys(isObject(schema['properties']) ? schema['properties'] : {})
    const [first = ''] = escapeControls(String(tool['description'] ?? '')).split('\n')
    const takes = names.map((each) => (required.includes(each) ? each : `${each}?`)).join(' ')
    return [
      wrapText(
        terminal,
        `${styled(terminal, 'bold', escapeControls(String(tool['name'])))} ${escapeControls(takes)}`.trimEnd(),
        4,
      ),
      ...(first === '' ? [] : [`    ${wrapText(terminal, first, 4)}`]),
    ]
  })
  const head = `${escapeControls(String(name))} ${escapeControls(String(version))}, MCP ${client.revision}, ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`
  return [styled(terminal, 'dim', head), ...lines].join('\n')
}

/** Prints text with control characters escaped, and other content by its type and URI. */
function textOf(terminal: Terminal, result: Params): string {
  if (result['resultType'] === 'input_required')
    return 'The server asks a question. Run this in a terminal to answer it, or use --json to see it.'
  const blocks = Array.isArray(result['content']) ? result['content'].filter(isObject) : []
  const lines = blocks.map((block) => {
    if (block['type'] === 'text') return escapeControls(String(block['text']))
    const resource = isObject(block['resource']) ? block['resource'] : block
    const about = [block['type'], resource['mimeType'], resource['uri']].filter((part) => typeof part === 'string')
    return styled(terminal, 'dim', `[${escapeControls(about.join(' '))}]`)
  })
  const text = lines.join('\n')
  return result['isError'] === true ? styled(terminal, 'red', text) : text
}

interface Approval {
  readonly id: string
  readonly message: string
  readonly url: string | undefined
}
/** Returns the pending approval if the result of a gated call names one. */
function approvalOf(result: Params): Approval | undefined {
  const [block] = Array.isArray(result['content']) ? result['content'].filter(isObject) : []
  const text = block?.['text']
  if (typeof text !== 'string' || !text.startsWith('{"approval_required":true')) return undefined
  const { request_id: id, message, url } = JSON.parse(text) as { request_id: string; message: string; url?: string }
  return { id, message, url }
}

function printNotification(terminal: Terminal, method: string, params: Params): void {
  if (method === 'notifications/progress') {
    const { progress, total, message } = params
    const share = typeof total === 'number' ? ` ${Math.round((Number(progress) / total) * 100)} %` : ''
    terminal.err(styled(terminal, 'dim', `…${share} ${escapeControls(String(message ?? ''))}`))
  } else if (method === 'notifications/message')
    terminal.err(
      styled(terminal, 'dim', `${String(params['level'])}: ${escapeControls(JSON.stringify(params['data']))}`),
    )
}

/** Prompts for the fields of an elicitation, one by one. */
async function answerElicitation(
  { terminal, signal }: CommandContext,
  method: string,
  params: Params,
): Promise<Params> {
  if (method !== 'elicitation/create') return { action: 'decline' }
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
    const choices = isObject(property) && Array.isArray(property['enum']) ? ` (${property['enum'].join(', ')})` : ''
    const reply = await prompt(`${escapeControls(name)}${escapeControls(choices)}: `, signal)
    if (reply !== '') pairs.push(`${name}=${reply}`)
  }
  return { action: 'accept', content: readArguments(pairs, schema) }
}

/** Reads one line. Passes Ctrl-C on to the process, because the line reader would swallow it. */
async function prompt(question: string, signal: AbortSignal): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  reader.once('SIGINT', () => {
    process.stderr.write('\n')
    process.kill(process.pid, 'SIGINT')
  })
  try {
    return await reader.question(question, { signal })
  } finally {
    reader.close()
  }
}
