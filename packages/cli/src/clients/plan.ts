/** Decides what becomes of each entry of clients' files: a server of the configuration, under a free name, or nothing. */

import { readPrivateFile } from 'sluice/node'
import type { ServerSettings } from '../config/schema.ts'
import type { ImportedServer } from './entries.ts'
import type { ClientEntry, ClientFile } from './file.ts'
import { contentOf, entriesIn } from './file.ts'
import type { MovedSecret } from './secrets.ts'
import { moveSecrets } from './secrets.ts'
import type { Machine } from './table.ts'

type Servers = { readonly [name: string]: ServerSettings }

export interface PlannedServer {
  readonly file: ClientFile
  readonly entry: ClientEntry
  /** The name in the configuration. */
  readonly name: string
  readonly server: ImportedServer
  readonly secrets: readonly MovedSecret[]
  /** Whether the configuration has it already. */
  readonly exists: boolean
}

export interface Plan {
  readonly servers: readonly PlannedServer[]
  /** Entries that stay as they are. */
  readonly left: readonly { readonly file: ClientFile; readonly entry: ClientEntry; readonly reason: string }[]
}

export interface PlanOptions {
  readonly machine: Machine
  /** The servers of the configuration. */
  readonly existing: Servers
  /** The folder for secrets. */
  readonly secrets: string
  /** Returns the name under which an entry is protected already. */
  nameOf?(entry: ClientEntry): string | undefined
  /** Replaces a server of the configuration that has the same name and differs. */
  readonly overwrite: boolean
}

export function planImport(files: readonly ClientFile[], options: PlanOptions): Plan {
  const servers: PlannedServer[] = []
  const left: Plan['left'][number][] = []
  const taken = new Map<string, ImportedServer>(
    Object.entries(options.existing).map(([name, settings]) => [name, toImported(settings)]),
  )
  for (const file of files)
    for (const entry of entriesIn(file)) {
      const known = entry.isSluice ? undefined : options.nameOf?.(entry)
      const server = known === undefined ? undefined : taken.get(known)
      // The configuration decides about a server that is protected already: a changed token there must survive, and an
      // entry that could not be protected now must not lose its protection.
      if (known !== undefined && server) {
        servers.push({ file, entry, name: known, server, secrets: [], exists: true })
        continue
      }
      const content = entry.isSluice
        ? { reason: 'goes through Sluice already' }
        : contentOf(file, entry, options.machine)
      if ('reason' in content) {
        left.push({ file, entry, reason: content.reason })
        continue
      }
      const moved = servers.flatMap((each) => each.secrets)
      const named = nameServer(content.server, entry, file, { taken, moved, options })
      taken.set(named.name, named.server)
      servers.push({ file, entry, ...named })
    }
  return { servers, left }
}

interface Names {
  readonly taken: ReadonlyMap<string, ImportedServer>
  /** The secrets of the servers before. */
  readonly moved: readonly MovedSecret[]
  readonly options: PlanOptions
}

/** Takes the name of the same server, or the first name that is free. */
function nameServer(
  server: ImportedServer,
  { name, project }: ClientEntry,
  { client }: ClientFile,
  { taken, moved, options }: Names,
): Pick<PlannedServer, 'name' | 'server' | 'secrets' | 'exists'> {
  const wanted = toServerName(name)
  const under = (candidate: string): Pick<PlannedServer, 'name' | 'server' | 'secrets' | 'exists'> => {
    const { server: own, secrets } = moveSecrets(server, candidate, options.secrets)
    const other = taken.get(candidate)
    // Two accounts of one service differ in the secret alone.
    const hasSecret = ({ file, value }: MovedSecret): boolean =>
      (moved.find((each) => each.file === file)?.value ?? readPrivateFile(file) ?? value) === value
    const exists = JSON.stringify(other) === JSON.stringify(inOrder(own)) && secrets.every(hasSecret)
    return { name: candidate, server: inOrder(own), secrets, exists }
  }
  const same = [...taken.keys()]
    .filter((each) => each === wanted || each.startsWith(`${wanted}-`))
    .map(under)
    .find(({ exists }) => exists)
  if (same) return same
  if (options.overwrite && Object.hasOwn(options.existing, wanted)) return under(wanted)
  const owner = toServerName(project === undefined ? client.id : (project.split(/[\\/]/).at(-1) ?? client.id))
  for (let turn = 0; ; turn += 1) {
    const suffix = turn === 0 ? '' : turn === 1 ? `-${owner}` : `-${turn}`
    const candidate = `${wanted.slice(0, Math.max(32 - suffix.length, 1))}${suffix}`.slice(0, 32)
    if (!taken.has(candidate)) return under(candidate)
  }
}

/** Returns a name that addresses and configurations allow. `all` is the endpoint for all servers. */
function toServerName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^[^a-z]+|-+$/g, '')
    .slice(0, 32)
  return name === '' || name === 'all' ? 'server' : name
}

const toImported = ({ command, args, env, cwd, url, headers }: ServerSettings): ImportedServer =>
  inOrder({ command, args, env, cwd, url, headers } as ImportedServer)

/** The same members in the same order, without empty ones, so that two servers can be compared as text. */
function inOrder({ command, args, env, cwd, url, headers }: ImportedServer): ImportedServer {
  const members = { command, args, env, cwd, url, headers }
  const isEmpty = (value: unknown): boolean =>
    value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0)
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isEmpty(value)))
}
