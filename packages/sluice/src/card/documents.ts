/**
 * What the world reads of a server before it connects: the server card (SEP-2127), the entry of an AI catalog that
 * leads to it, and the `server.json` of the MCP registry. All are made from the definition, so that they cannot
 * contradict it. None lists tools: clients ask the server.
 *
 * https://github.com/modelcontextprotocol/experimental-ext-server-card
 */

import type { Params } from '../core/json.ts'
import type { DefinitionSummary } from '../core/plugin.ts'
import { revisions } from '../protocol/revisions.ts'

/** What a definition does not know: where the server is, and under which name the world finds it. */
export interface CardOptions {
  /** The name in the registry, in reverse DNS: `com.example/notes`. */
  readonly name: string
  /** The address of the endpoint: `https://mcp.example.com/mcp`. */
  readonly url?: string
  readonly repository?: Repository
  /** Replaces the description of the definition. At most 100 characters. */
  readonly description?: string
}
/** Where the source code is. */
export interface Repository {
  readonly url: string
  /** Who hosts it, such as `github`. */
  readonly source: string
  /** The folder of the server in the repository. */
  readonly subfolder?: string
}
/** A package on npm that runs the server on stdio. */
export interface CardPackage {
  readonly identifier: string
  readonly version: string
}

export const cardMediaType = 'application/mcp-server-card+json'

/** Returns the server card: identity, address and protocol revisions. */
export function serverCard(definition: DefinitionSummary, options: CardOptions): Params {
  const { url } = options
  // Earlier revisions are reached by `initialize`, so `server/discover` does not name them; a card may.
  const supportedProtocolVersions = Object.keys(revisions)
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json',
    ...identityOf(definition, options),
    ...(url !== undefined && {
      remotes: [{ type: 'streamable-http', url: checkedUrl(url), supportedProtocolVersions }],
    }),
  }
}

/** Returns the `server.json` that the MCP registry takes. */
export function serverJson(definition: DefinitionSummary, options: CardOptions, published?: CardPackage): Params {
  const { url } = options
  if (url === undefined && !published)
    throw new TypeError('server.json needs the address of the server, or the package that runs it')
  const { icons: _, ...identity } = identityOf(definition, options)
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    ...identity,
    ...(published && {
      packages: [{ registryType: 'npm', ...published, runtimeHint: 'npx', transport: { type: 'stdio' } }],
    }),
    ...(url !== undefined && { remotes: [{ type: 'streamable-http', url: checkedUrl(url) }] }),
  }
}

/** Returns the entry for `/.well-known/ai-catalog.json` that leads to the card. */
export function catalogEntry({ name, url }: Pick<CardOptions, 'name' | 'url'>): Params {
  if (url === undefined) throw new TypeError('a catalog entry needs the address of the server')
  const [namespace = '', own] = checkedName(name).split('/')
  const publisher = namespace.split('.').reverse().join('.')
  return { identifier: `urn:air:${publisher}:mcp:${own}`, type: cardMediaType, url: `${checkedUrl(url)}/server-card` }
}

const maxText = 100

function identityOf(definition: DefinitionSummary, { name, repository, description }: CardOptions): Params {
  const { version, title, websiteUrl, icons } = definition
  const about = description ?? definition.description
  if (about === undefined || about === '')
    throw new TypeError('a card needs a "description": add one to the definition')
  if (about.length > maxText)
    throw new TypeError(`"description" has ${about.length} characters; a card takes ${maxText}, so pass a shorter one`)
  if (title !== undefined && title.length > maxText) throw new TypeError(`"title" has more than ${maxText} characters`)
  if (/[\^~><=*]|\bx\b/.test(version)) throw new TypeError(`"version" is "${version}"; a card takes no ranges`)
  return {
    name: checkedName(name),
    ...(title !== undefined && { title }),
    description: about,
    version,
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(repository && { repository }),
    ...(icons && { icons }),
  }
}

function checkedName(name: string): string {
  if (name.length > 200 || !/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name))
    throw new TypeError(`"${name}" is not a name in reverse DNS with one slash, such as com.example/notes`)
  return name
}

function checkedUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:\/\/[^\s{}?#]+[^\s{}?#/]$/.test(url))
    throw new TypeError(`"${url}" is not the address of an endpoint, such as https://mcp.example.com/mcp`)
  return url
}
