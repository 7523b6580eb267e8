/** Finds clients and their files. */

import { basename, resolve } from 'node:path'
import { didYouMean } from 'sluice/extend'
import { CommandError, exitCodes } from '../output.ts'
import type { ClientFile } from './file.ts'
import { projectOf, readClientFile } from './file.ts'
import type { Machine, McpClient } from './table.ts'
import { clients, plainClient } from './table.ts'

/** Returns the client with this name. Refuses one whose file Sluice does not edit, and says what to do. */
export function clientNamed(id: string): McpClient {
  const all = [...clients, plainClient]
  const found = all.find((each) => each.id === id)
  if (!found) {
    const ids = all.map((each) => each.id)
    throw new CommandError(
      `Unknown client "${id}"${didYouMean(id, ids) || '.'} Use one of ${ids.join(', ')}.`,
      exitCodes.usage,
    )
  }
  if (found.format === 'json') return found
  throw new CommandError(
    `${found.name} keeps its servers in TOML, which Sluice does not edit. Add them to the configuration of Sluice, and then to ${found.name} with: codex mcp add <name> -- sluice connect <name>`,
    exitCodes.usage,
  )
}

/** Reads the file of a client: the named one, or that of the user. */
export function fileOf(client: McpClient, named: string | undefined, cwd: string, machine: Machine): ClientFile {
  const path = named === undefined ? client.userFile(machine) : resolve(cwd, named)
  const file = readClientFile(client, path, rootOf(client, path, machine))
  if (file) return file
  throw new CommandError(
    `${client.name} has no file ${path}. Add a server in ${client.name} first (${client.open}), or name another file: sluice protect ${client.id} <file>`,
  )
}

/** Reads the named files, or all that are at the usual places for this user and this folder. */
export function findFiles(named: readonly string[], cwd: string, machine: Machine): readonly ClientFile[] {
  if (named.length > 0)
    return named.map((each) => {
      const path = resolve(cwd, each)
      const client = clientOf(path, machine)
      const file = readClientFile(client, path, rootOf(client, path, machine))
      if (file) return file
      throw new CommandError(`The file ${path} does not exist`, exitCodes.usage)
    })
  const json = clients.filter(({ format }) => format === 'json')
  const places = [
    ...json.map((client) => ({ client, path: client.userFile(machine), project: undefined })),
    ...[...json, plainClient].flatMap((client) =>
      client.projectFile === undefined ? [] : [{ client, path: resolve(cwd, client.projectFile), project: cwd }],
    ),
  ]
  const isFirst = (path: string, at: number): boolean => places.findIndex((each) => each.path === path) === at
  return places
    .filter(({ path }, at) => isFirst(path, at))
    .map(({ client, path, project }) => readClientFile(client, path, project))
    .filter((file) => file !== undefined)
}

/** Tells the client of a file by its place or its name. Files with other names mostly have the form of `mcp.json`. */
function clientOf(path: string, machine: Machine): McpClient {
  const slashed = path.replaceAll('\\', '/')
  const found =
    clients.find((each) => each.userFile(machine) === path) ??
    clients.find((each) => each.projectFile !== undefined && slashed.endsWith(`/${each.projectFile}`)) ??
    clients.find(
      (each) =>
        ![undefined, 'settings.json', 'mcp.json'].includes(basename(each.userFile(machine))) &&
        basename(each.userFile(machine)) === basename(path),
    )
  const client = found ?? plainClient
  return client.format === 'json' ? client : clientNamed(client.id)
}

const rootOf = (client: McpClient, path: string, machine: Machine): string | undefined =>
  client.projectFile !== undefined &&
  path !== client.userFile(machine) &&
  path.replaceAll('\\', '/').endsWith(`/${client.projectFile}`)
    ? projectOf(path, client.projectFile)
    : undefined
