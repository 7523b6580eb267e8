/** `sluice card`: prints what registries and clients read of a server before they connect. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { CardOptions, CardPackage, Repository } from 'sluice/card'
import { catalogEntry, serverCard, serverJson } from 'sluice/card'
import { nodeClock } from 'sluice/node'
import { silentLogger } from '../host/logger.ts'
import { isModule, openServer } from '../host/servers.ts'
import { CommandError, exitCodes, styled, toJson } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface CardCommandOptions {
  readonly name?: string
  readonly url?: string
  readonly description?: string
  readonly only?: 'card' | 'server.json' | 'catalog'
  readonly json?: boolean
}

export async function card(
  { terminal, env }: CommandContext,
  target: string,
  options: CardCommandOptions,
): Promise<number> {
  const module = isModule(target) ? target : undefined
  // A card says nothing of the data, so the server opens without it.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-card-'))
  const opened = await openServer({ name: target, module, folder, env, logger: silentLogger, clock: nodeClock }).catch(
    (thrown: unknown) => {
      rmSync(folder, { recursive: true })
      throw thrown
    },
  )
  try {
    const manifest = module === undefined ? {} : manifestAbove(dirname(resolve(module)))
    const documents = documentsOf(opened.definition, manifest, options)
    const wanted = Object.entries(documents).filter(([name]) => options.only === undefined || name === options.only)
    if (wanted.length === 0)
      throw new CommandError(`"${options.only}" needs the address of the server: add --url`, exitCodes.usage)
    if (options.json || options.only !== undefined)
      terminal.out(toJson(options.only === undefined ? documents : wanted[0]?.[1]))
    else
      for (const [name, document] of wanted)
        terminal.out(`${styled(terminal, 'bold', titles[name] ?? name)}\n${toJson(document)}\n`)
    return exitCodes.ok
  } finally {
    await opened.close()
    rmSync(folder, { recursive: true })
  }
}

const titles: { readonly [name: string]: string } = {
  card: 'Server card: serve it at the address of the endpoint, followed by /server-card',
  'server.json': 'server.json: for the MCP registry',
  catalog: 'Entry of an AI catalog: for /.well-known/ai-catalog.json of your domain',
}

interface Manifest {
  readonly name?: string
  readonly version?: string
  readonly mcpName?: string
  readonly description?: string
  readonly private?: boolean
  readonly repository?: string | { readonly url?: string; readonly directory?: string }
}

/** The catalog entry needs an address, and `server.json` needs an address or a package. */
function documentsOf(
  definition: Parameters<typeof serverCard>[0],
  manifest: Manifest,
  { url, ...given }: CardCommandOptions,
): { readonly [name: string]: unknown } {
  const name = given.name ?? manifest.mcpName
  if (name === undefined)
    throw new CommandError(
      'A card needs a name such as com.example/notes: add --name, or "mcpName" to package.json',
      exitCodes.usage,
    )
  const description = given.description ?? definition.description ?? manifest.description
  if (description === undefined)
    throw new CommandError('A card needs a description: add one to the definition, or --description', exitCodes.usage)
  const repository = repositoryOf(manifest.repository)
  const about: CardOptions = {
    name,
    ...(url !== undefined && { url }),
    description,
    ...(repository && { repository }),
  }
  const published: CardPackage | undefined =
    manifest.mcpName !== undefined && manifest.name !== undefined && manifest.version !== undefined && !manifest.private
      ? { identifier: manifest.name, version: manifest.version }
      : undefined
  try {
    return {
      card: serverCard(definition, about),
      ...((url !== undefined || published) && { 'server.json': serverJson(definition, about, published) }),
      ...(url !== undefined && { catalog: catalogEntry({ name, url }) }),
    }
  } catch (thrown) {
    if (thrown instanceof TypeError) throw new CommandError(thrown.message, exitCodes.usage)
    throw thrown
  }
}

/** Reads the nearest package.json. */
function manifestAbove(folder: string): Manifest {
  const file = join(folder, 'package.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Manifest
  return dirname(folder) === folder ? {} : manifestAbove(dirname(folder))
}

function repositoryOf(repository: Manifest['repository']): Repository | undefined {
  const { url: text = '', directory } = typeof repository === 'object' ? repository : { url: repository ?? '' }
  const url = text
    .replace(/^git\+/, '')
    .replace(/^github:/, 'https://github.com/')
    .replace(/\.git$/, '')
  const source = /^https:\/\/(github|gitlab)\.com\//.exec(url)?.[1]
  return source === undefined ? undefined : { url, source, ...(directory !== undefined && { subfolder: directory }) }
}
