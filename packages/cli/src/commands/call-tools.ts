/** The tools of a server: listed, and called with what the user wrote. A gated call waits for its approval. */

import type { Client } from 'sluice/client'
import { didYouMean } from 'sluice/extend'
import type { Params } from '../client/message.ts'
import { isObject } from '../client/message.ts'
import { CommandError, escapeControls, exitCodes, plural, styled, type Terminal, toJson, wrapText } from '../output.ts'
import { readArguments } from './arguments.ts'
import { allOf, type CallContext, printNotification, prompt, textOf } from './call-context.ts'

export async function listTools({ terminal, client, json, signal }: CallContext): Promise<number> {
  const tools = await allOf(client.tools({ signal }))
  terminal.out(json ? toJson(tools) : listOf(terminal, client, tools))
  return exitCodes.ok
}

export async function callTool(context: CallContext, name: string, pairs: readonly string[]): Promise<number> {
  const { terminal, client, target, json, isAsking, signal } = context
  const tools = await allOf(client.tools({ signal, cached: true }))
  const tool = tools.find((each) => each['name'] === name)
  if (!tool) {
    const names = tools.map((each) => String(each['name']))
    throw new CommandError(
      `${target} has no tool "${name}"${didYouMean(name, names)}. Run sluice call ${target} to list its tools.`,
    )
  }
  const args = readArguments(pairs, isObject(tool['inputSchema']) ? tool['inputSchema'] : {})
  // The command ends with the user: neither a question nor a long task has a deadline here.
  let lastStatus: unknown
  const run = (): Promise<Params> =>
    client.callTool(name, args, {
      signal,
      timeoutMs: Number.POSITIVE_INFINITY,
      onProgress: (progress) => printNotification(terminal, 'notifications/progress', progress),
      onTask: ({ statusMessage }) => {
        // A task is looked at every few seconds, and its status seldom changes.
        if (typeof statusMessage === 'string' && statusMessage !== lastStatus)
          terminal.err(styled(terminal, 'dim', `… ${escapeControls(statusMessage)}`))
        lastStatus = statusMessage
      },
    })
  let result = await run()
  for (let approval = approvalOf(result); approval && isAsking; approval = approvalOf(result)) {
    terminal.err(`${styled(terminal, 'yellow', 'Waiting for an approval')}: ${escapeControls(approval.message)}`)
    terminal.err(approval.url ? `Decide at ${approval.url}` : `Decide with: sluice approvals approve ${approval.id}`)
    await prompt('Press Enter after the decision … ', signal)
    result = await run()
  }
  terminal.out(json ? toJson(result) : textOf(terminal, result))
  return result['isError'] === true ? exitCodes.failed : exitCodes.ok
}

function listOf(terminal: Terminal, client: Client, tools: readonly Params[]): string {
  const { revision, serverInfo } = client.agreement
  const { name = 'A server', version = '' } = serverInfo
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
  const head = `${escapeControls(String(name))} ${escapeControls(String(version))}, MCP ${revision}, ${plural(tools.length, 'tool')}`
  return [styled(terminal, 'dim', head), ...lines].join('\n')
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
