/** Shared by the parts of `sluice call`: the connection, and how results are shown and users asked. */

import { createInterface } from 'node:readline/promises'
import type { Client } from 'sluice/client'
import type { Params } from '../client/message.ts'
import { isObject } from '../client/message.ts'
import { escapeControls, styled, type Terminal } from '../output.ts'
import type { CommandContext } from './context.ts'

/** The connection and the options of one invocation. */
export interface CallContext extends CommandContext {
  readonly client: Client
  readonly target: string
  readonly json: boolean
  /** Whether there is a user to ask. */
  readonly isAsking: boolean
}

export async function allOf(list: AsyncIterable<Params>): Promise<readonly Params[]> {
  const entries: Params[] = []
  for await (const entry of list) {
    entries.push(entry)
    if (entries.length >= 10_000) break
  }
  return entries
}

/** Returns text with control characters escaped, and other content by its type and URI. */
export function textOf(terminal: Terminal, result: Params): string {
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

/** Reads one line. Passes Ctrl-C on to the process, because the line reader would swallow it. */
export async function prompt(question: string, signal: AbortSignal): Promise<string> {
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

/** Shows progress and log messages. */
export function printNotification(terminal: Terminal, method: string, params: Params): void {
  if (method === 'notifications/progress') {
    const { progress, total, message } = params
    const share = typeof total === 'number' ? ` ${Math.round((Number(progress) / total) * 100)} %` : ''
    terminal.err(styled(terminal, 'dim', `…${share} ${escapeControls(String(message ?? ''))}`))
  } else if (method === 'notifications/message')
    terminal.err(
      styled(terminal, 'dim', `${String(params['level'])}: ${escapeControls(JSON.stringify(params['data']))}`),
    )
}
