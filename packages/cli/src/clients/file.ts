/** A client's file as text. Edits keep its comments, order and formatting, because people write these files by hand. */

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FormattingOptions, ParseError } from 'jsonc-parser'
import { applyEdits, findNodeAtLocation, modify, parse, parseTree, printParseErrorCode } from 'jsonc-parser'
import type { Tree } from '../config/tree.ts'
import { isTree } from '../config/tree.ts'
import { CommandError } from '../output.ts'
import type { EntryContext } from './entries.ts'
import { changedMembers, isSluiceEntry, readEntry } from './entries.ts'
import type { Machine, McpClient } from './table.ts'

export interface ClientFile {
  readonly client: McpClient
  readonly path: string
  readonly text: string
  /** Set if the file belongs to a project: its root. */
  readonly project?: string
}

/** One server in a client's file. */
export interface ClientEntry {
  readonly name: string
  /** The members that lead to it in the file. */
  readonly at: readonly string[]
  readonly value: unknown
  readonly isSluice: boolean
  readonly project?: string
}

/** Reads a file. `undefined` if it does not exist. */
export function readClientFile(client: McpClient, path: string, project?: string): ClientFile | undefined {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new CommandError(`${path} cannot be read (${String(code ?? thrown)}). Check its permissions.`)
  }
  const text = bytes.toString('utf8')
  // A backup must give back the same bytes, and text with replacement characters would not.
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw new CommandError(`${path} is not UTF-8 text. Save it as UTF-8.`)
  return { client, path, text, ...(project !== undefined && { project }) }
}

/** Returns the value of a file. Refuses one that a client could not read either. An empty file has no servers. */
function valueOf({ path, text }: Pick<ClientFile, 'path' | 'text'>): Tree {
  const { body } = splitMark(text)
  if (body.trim() === '') return {}
  const errors: ParseError[] = []
  const value: unknown = parse(body, errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) {
    const line = text.slice(0, first.offset).split('\n').length
    throw new CommandError(
      `${path} is not valid JSON: ${printParseErrorCode(first.error)} in line ${line}. Correct it first.`,
    )
  }
  if (!isTree(value)) throw new CommandError(`${path} does not hold a JSON object, so it has no servers.`)
  return value
}

/** Returns the servers of a file, those of single projects included. */
export function entriesIn(file: ClientFile): readonly ClientEntry[] {
  const { client, project } = file
  const value = valueOf(file)
  const groups: { readonly at: readonly string[]; readonly project?: string }[] = [
    { at: client.section, ...(project !== undefined && { project }) },
  ]
  const projects = client.projects === undefined ? undefined : value[client.projects]
  if (client.projects !== undefined && isTree(projects))
    for (const each of Object.keys(projects))
      groups.push({ at: [client.projects, each, ...client.section], project: each })
  return groups.flatMap(({ at, project: root }) => {
    const group = at.reduce<unknown>((inside, name) => (isTree(inside) ? inside[name] : undefined), value)
    return Object.entries(isTree(group) ? group : {}).map(([name, each]) => ({
      ...{ name, at: [...at, name], value: each, isSluice: isSluiceEntry(each) },
      ...(root !== undefined && { project: root }),
    }))
  })
}

export const contentOf = ({ client }: ClientFile, { value, project }: ClientEntry, machine: Machine) => {
  const context: EntryContext = { client, machine, ...(project !== undefined && { project }) }
  return readEntry(value, context)
}

/** Returns the text with other values at some places. */
export function withValues(
  file: ClientFile,
  changes: readonly { readonly at: readonly string[]; readonly value: unknown }[],
): string {
  const formattingOptions = formattingOf(file.text)
  let { mark, body } = splitMark(file.text)
  for (const { at, value } of changes) body = applyEdits(body, modify(body, [...at], value, { formattingOptions }))
  const after = valueOf({ path: file.path, text: body })
  // An edit changes the first of two members with one name, and clients read the last.
  for (const { at, value } of changes) {
    const found = at.reduce<unknown>((inside, name) => (isTree(inside) ? inside[name] : undefined), after)
    if (JSON.stringify(found) !== JSON.stringify(value))
      throw new CommandError(`${file.path} has "${at.at(-1)}" twice. Remove one of them first.`)
  }
  return mark + body
}

/**
 * Returns `current` with its entries that start Sluice replaced by the text that `original` has at the same place. What
 * was changed since stays: entries that started Sluice before, and members that `protect` does not replace.
 */
export function withOriginals(current: ClientFile, original: string): string {
  const formattingOptions = formattingOf(current.text)
  const { body: old } = splitMark(original)
  const tree = parseTree(old)
  const originals = new Map(entriesIn({ ...current, text: original }).map((each) => [each.at.join('\0'), each]))
  let { mark, body } = splitMark(current.text)
  for (const { at, isSluice, value } of entriesIn(current)) {
    const replaced = originals.get(at.join('\0'))
    const before = tree && findNodeAtLocation(tree, [...at])
    const now = parseTree(body)
    const node = now && findNodeAtLocation(now, [...at])
    if (!isSluice || !before || !node || !replaced || replaced.isSluice) continue
    const kept = old.slice(before.offset, before.offset + before.length)
    body = `${body.slice(0, node.offset)}${kept}${body.slice(node.offset + node.length)}`
    if (!isTree(replaced.value) || !isTree(value)) continue
    // Otherwise a server that was turned off in the client would be on again.
    for (const [name, changed] of changedMembers(replaced.value, value))
      body = applyEdits(body, modify(body, [...at, name], changed, { formattingOptions }))
  }
  return mark + body
}

/** Separates the byte order mark, which some editors write and the parser does not expect. */
const splitMark = (text: string): { mark: string; body: string } =>
  text.startsWith('\uFEFF') ? { mark: '\uFEFF', body: text.slice(1) } : { mark: '', body: text }

/** Indents as the file does. */
function formattingOf(text: string): FormattingOptions {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? []
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.startsWith('\t') ? 1 : indent.length, eol }
}

/** Returns the root of the project that a file such as `.vscode/mcp.json` belongs to. */
export const projectOf = (path: string, projectFile: string): string =>
  projectFile.split('/').reduce((folder) => dirname(folder), path)
