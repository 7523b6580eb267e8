/** Decides what becomes of each entry of clients' files: a server of the configuration, under a free name, or nothing. */

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
  /** Replaces a server of the configuration that has the same name and differs. */
  readonly overwrite: boolean
}

export function planImport(files: readonly ClientFile[], options: PlanOptions): Plan {
  const servers: PlannedServer[] = []
  const left: Plan['left'][number][] = []
  const taken = new Map<string, ImportedServer>(
    Object.entries(options.existing).map(([name, settings]) => [name, toImported(settings)]),
  )
  const before = new Set(taken.keys())
  for (const file of files)
    for (const entry of entriesIn(file)) {
      const content = entry.isSluice
        ? { reason: 'goes through Sluice already' }
        : contentOf(file, entry, options.machine)
      if ('reason' in content) {
        left.push({ file, entry, reason: content.reason })
        continue
      }
      const named = nameServer(content.server, entry, file, taken, before, options)
      taken.set(named.name, named.server)
      servers.push({ file, entry, ...named })
    }
  return { servers, left }
}

/** Takes the first name that is free, or that has the same server. */
function nameServer(
  server: ImportedServer,
  { name, project }: ClientEntry,
  { client }: ClientFile,
  taken: ReadonlyMap<string, ImportedServer>,
  before: ReadonlySet<string>,
  { secrets: folder, overwrite }: PlanOptions,
): Pick<PlannedServer, 'name' | 'server' | 'secrets' | 'exists'> {
  const wanted = toServerName(name)
  const owner = project === undefined ? client.id : (project.split(/[\\/]/).at(-1) ?? client.id)
  for (let turn = 0; ; turn += 1) {
    const suffix = turn === 0 ? '' : turn === 1 ? `-${toServerName(owner)}` : `-${turn}`
    const candidate = `${wanted.slice(0, 32 - suffix.length)}${suffix}`.slice(0, 32)
    const moved = moveSecrets(server, candidate, folder)
    const other = taken.get(candidate)
    const exists = other !== undefined && JSON.stringify(other) === JSON.stringify(inOrder(moved.server))
    if (other === undefined || exists || (overwrite && turn === 0 && before.has(candidate)))
      return { name: candidate, server: inOrder(moved.server), secrets: moved.secrets, exists }
  }
}

/** Returns a name that addresses and configurations allow. `all` is the endpoint for all servers. */
export function toServerName(text: string): string {
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
