/** Reads one entry of a client's file: a command or a URL, with its variables as references of Sluice. */

import { sep } from 'node:path'
import type { Tree } from '../config/tree.ts'
import { isTree } from '../config/tree.ts'
import type { Machine, McpClient } from './table.ts'

/** The members of a server in the configuration of Sluice that an entry decides. */
export interface ImportedServer {
  readonly command?: string
  readonly args?: readonly string[]
  readonly env?: { readonly [name: string]: string }
  readonly cwd?: string
  readonly url?: string
  readonly headers?: { readonly [name: string]: string }
}

/** The server of an entry, or why Sluice leaves the entry as it is. */
export type EntryContent = { readonly server: ImportedServer } | { readonly reason: string }

export interface EntryContext {
  readonly client: McpClient
  readonly machine: Machine
  /** The root of the project that the entry belongs to. `undefined` in a file of the user. */
  readonly project?: string
}

/** Thrown inside this file. It becomes the reason. */
class Unusable extends Error {}

export function readEntry(value: unknown, context: EntryContext): EntryContent {
  try {
    return { server: serverOf(value, context) }
  } catch (thrown) {
    if (thrown instanceof Unusable) return { reason: thrown.message }
    throw thrown
  }
}

/** Whether an entry starts Sluice already. */
export function isSluiceEntry(value: unknown): boolean {
  if (!isTree(value)) return false
  const { command, args } = startOf(value)
  const words: readonly unknown[] = Array.isArray(args) ? args : []
  // Only the program counts, because a folder that a server gets may be called "sluice" too.
  const starts = (word: unknown, pattern: RegExp): boolean => typeof word === 'string' && pattern.test(word)
  return (
    starts(command, /(^|[\\/])sluice(\.cmd)?$/) ||
    starts(words[0], mainPath) ||
    words.some((word) => starts(word, /^@sluice\/cli(@|$)/))
  )
}

/** Returns the name after `connect` in an entry that starts Sluice. */
export function connectedName(value: unknown): string | undefined {
  const { args } = isTree(value) ? startOf(value) : {}
  const words: readonly unknown[] = Array.isArray(args) && isSluiceEntry(value) ? args : []
  const name = words[words.indexOf('connect') + 1]
  return words.includes('connect') && typeof name === 'string' ? name : undefined
}

/** The command of a checkout, which is not installed from npm. */
const mainPath = /[\\/]cli[\\/](bin[\\/]sluice\.js|(dist|src)[\\/]main\.[jt]s)$/

/** The members of an entry that say how the server is reached. `protect` replaces them and keeps all others. */
const replacedMembers = ['type', 'command', 'args', 'env', 'cwd', 'url', 'serverUrl', 'httpUrl', 'headers']

/** Returns the members that `protect` keeps and that differ, with their values in `now`. */
export const changedMembers = (before: Tree, now: Tree): readonly (readonly [name: string, value: unknown])[] =>
  Object.keys({ ...before, ...now })
    .filter((name) => !replacedMembers.includes(name) && JSON.stringify(before[name]) !== JSON.stringify(now[name]))
    .map((name) => [name, now[name]])

/** Returns the entry that starts a command of Sluice instead. Members such as a timeout stay. */
export function toProtectedEntry(value: Tree, [command, ...args]: readonly string[], client: McpClient): Tree {
  const kept = Object.fromEntries(Object.entries(value).filter(([name]) => !replacedMembers.includes(name)))
  if (isTree(value['command'])) return { command: { path: command, args, env: {} }, ...kept }
  return { ...(client.needsType && { type: 'stdio' }), command, args, ...kept }
}

/** Earlier versions of Zed have the command in a group. */
const startOf = (value: Tree): Tree =>
  isTree(value['command'])
    ? { command: value['command']['path'], args: value['command']['args'], env: value['command']['env'] }
    : value

function serverOf(value: unknown, context: EntryContext): ImportedServer {
  if (!isTree(value)) throw new Unusable('is not an object')
  if (value['disabled'] === true || value['enabled'] === false) throw new Unusable('is disabled')
  const { command, args = [], env = {} } = startOf(value)
  if (typeof command === 'string') {
    if (value['envFile'] !== undefined)
      throw new Unusable('reads "envFile", which Sluice does not. Write its variables into "env"')
    const cwd = value['cwd'] ?? context.project
    return {
      command: expand(command, context),
      args: listOf(args).map((arg) => expand(arg, context)),
      ...groupOf('env', env, context),
      ...(typeof cwd === 'string' && { cwd: expand(cwd, context) }),
    }
  }
  return urlServerOf(value, context)
}

function urlServerOf(value: Tree, context: EntryContext): ImportedServer {
  const { client } = context
  const isHttp = value['type'] === 'http' || value['type'] === 'streamable-http'
  const own = value[client.urlMember]
  const url = own ?? (isHttp ? value['url'] : undefined)
  if (value['type'] === 'sse' || (url === undefined && value['url'] !== undefined))
    throw new Unusable('speaks HTTP+SSE. Sluice reaches servers over Streamable HTTP')
  if (typeof url !== 'string' || !/^https?:\/\//.test(url)) throw new Unusable('has neither a command nor a URL')
  if (value['headersHelper'] !== undefined)
    throw new Unusable('gets its headers from a command, which Sluice cannot do')
  const headers = groupOf('headers', value['headers'] ?? {}, context)
  const isLocal = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/.test(`${url}/`)
  if (!isLocal && headers['headers'] === undefined && !/[?&]\w*(key|token|secret)\w*=/i.test(url))
    throw new Unusable(
      'has no credential here, so it probably needs a sign-in. For that, add it to the configuration by hand, with "auth: { signIn: {} }"',
    )
  return { url: expand(url, context), ...headers }
}

const listOf = (value: unknown): readonly string[] => {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value
  throw new Unusable('has "args" that are not a list of texts')
}

function groupOf(
  member: 'env' | 'headers',
  value: unknown,
  context: EntryContext,
): { [member: string]: { [name: string]: string } } {
  if (!isTree(value)) throw new Unusable(`has "${member}" that is not an object`)
  const pairs = Object.entries(value).filter(([, each]) => each !== null && each !== undefined)
  if (pairs.length === 0) return {}
  return { [member]: Object.fromEntries(pairs.map(([name, each]) => [name, expand(String(each), context)])) }
}

/** Resolves what is known now, and writes variables of the environment as `${env:NAME}`. */
function expand(text: string, context: EntryContext): string {
  const { client } = context
  const braced = text.replace(/\$\{([^}]*)\}/g, (whole, inside: string) => variable(whole, inside, context))
  if (client.id !== 'gemini') return braced
  return braced.replace(/\$([A-Z_][A-Z0-9_]*)/g, (_, name: string) => environment(name, context))
}

function variable(whole: string, inside: string, context: EntryContext): string {
  const { client, machine, project } = context
  const [, kind, rest = ''] = /^(env|file|input|command):(.*)$/s.exec(inside) ?? []
  if (kind === 'env') return environment(rest, context)
  if (kind === 'file') return whole
  if (kind !== undefined)
    throw new Unusable(`asks you for "${rest}". Write \${env:NAME} instead, and set that variable`)
  if (inside === 'userHome') return machine.home
  if (inside === 'pathSeparator' || inside === '/') return sep
  if (inside.startsWith('workspaceFolder')) {
    if (inside === 'workspaceFolder' && project !== undefined) return project
    throw new Unusable(`depends on the open folder (${whole})`)
  }
  const [, name, fallback] = /^([A-Za-z_]\w*)(?::-(.*))?$/s.exec(inside) ?? []
  if (!client.bareVariables || name === undefined) return whole
  return machine.env[name] || fallback === undefined ? environment(name, context) : fallback
}

/** A variable that is missing would keep Sluice from starting, and with it all other servers. */
function environment(name: string, { machine }: EntryContext): string {
  if (machine.env[name]) return `\${env:${name}}`
  throw new Unusable(`needs the variable ${name}, which is not set here. Set it, and run this again`)
}
