/** `sluice call` for resources, prompts and completions. */

import type { Params } from '../client/message.ts'
import { isObject } from '../client/message.ts'
import { escapeControls, exitCodes, styled, type Terminal, toJson, wrapText } from '../output.ts'
import { readArguments } from './arguments.ts'
import { allOf, type CallContext, textOf } from './call-context.ts'

export async function listResources({ terminal, client, json, signal }: CallContext): Promise<number> {
  const resources = await allOf(client.resources({ signal }))
  const templates = await allOf(client.resourceTemplates({ signal }))
  if (json) terminal.out(toJson({ resources, templates }))
  else
    for (const entry of [...resources, ...templates])
      terminal.out(lineOf(terminal, entry['uri'] ?? entry['uriTemplate'], entry['description'] ?? entry['name']))
  return exitCodes.ok
}

export async function readResource({ terminal, client, json, signal }: CallContext, uri: string): Promise<number> {
  const result = await client.request('resources/read', { uri }, { signal })
  const contents = Array.isArray(result['contents']) ? result['contents'].filter(isObject) : []
  const content = contents.map((each) =>
    typeof each['text'] === 'string' ? { type: 'text', text: each['text'] } : { type: 'resource', resource: each },
  )
  terminal.out(json ? toJson(result) : textOf(terminal, { content }))
  return exitCodes.ok
}

export async function listPrompts({ terminal, client, json, signal }: CallContext): Promise<number> {
  const prompts = await allOf(client.prompts({ signal }))
  if (json) terminal.out(toJson(prompts))
  else
    for (const { name, description, arguments: args } of prompts) {
      const takes = (Array.isArray(args) ? args.filter(isObject) : []).map((each) =>
        each['required'] === true ? String(each['name']) : `${String(each['name'])}?`,
      )
      terminal.out(lineOf(terminal, [name, ...takes].join(' '), description))
    }
  return exitCodes.ok
}

export async function getPrompt(context: CallContext, name: string, pairs: readonly string[]): Promise<number> {
  const { terminal, client, json, signal } = context
  const result = await client.request('prompts/get', { name, arguments: readArguments(pairs, {}) }, { signal })
  if (json) terminal.out(toJson(result))
  else
    for (const message of Array.isArray(result['messages']) ? result['messages'].filter(isObject) : [])
      terminal.out(
        `${styled(terminal, 'bold', `${escapeControls(String(message['role']))}:`)} ${textOf(terminal, { content: [message['content']] })}`,
      )
  return exitCodes.ok
}

/** Completes the last `argument=beginning`; those before it are what the user chose already. */
export async function complete(context: CallContext, of: string, pairs: readonly string[]): Promise<number> {
  const { terminal, client, json, signal } = context
  const chosen = Object.entries(readArguments(pairs, {}))
  const [name = '', value = ''] = chosen.pop() ?? []
  const ref = /^[a-z][a-z0-9+.-]*:/i.test(of) ? { type: 'ref/resource', uri: of } : { type: 'ref/prompt', name: of }
  const params = {
    ref,
    argument: { name, value },
    ...(chosen.length > 0 && { context: { arguments: Object.fromEntries(chosen) } }),
  }
  const { completion } = await client.request('completion/complete', params, { signal })
  const { values }: Params = isObject(completion) ? completion : {}
  if (json) terminal.out(toJson(completion))
  else for (const each of Array.isArray(values) ? values : []) terminal.out(escapeControls(String(each)))
  return exitCodes.ok
}

function lineOf(terminal: Terminal, name: unknown, about: unknown): string {
  const [first = ''] = escapeControls(String(about ?? '')).split('\n')
  const head = wrapText(terminal, styled(terminal, 'bold', escapeControls(String(name))), 4)
  return first === '' ? head : `${head}\n    ${wrapText(terminal, first, 4)}`
}
