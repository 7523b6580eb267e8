/**
 * The five protocol revisions as data: the features of each. All code that depends on a revision reads this table, so
 * that no field or method is sent on a revision that lacks it.
 *
 * https://modelcontextprotocol.io/specification
 */

import type { Era } from '../core/error.ts'

export interface Features {
  readonly name: RevisionName
  readonly era: Era
  /** Hints and titles on tools. */
  readonly toolAnnotations: boolean
  /** `title` on definitions and on the server itself. */
  readonly titles: boolean
  /** The types that `structuredContent` and `outputSchema` may have. */
  readonly structured: 'none' | 'object' | 'any'
  readonly icons: boolean
  /** `_meta` on definitions and content blocks. */
  readonly meta: boolean
  readonly audio: boolean
  readonly resourceLinks: boolean
  readonly lastModified: boolean
  /** `completions` among the capabilities. The method is older. */
  readonly completions: boolean
  readonly progressMessage: boolean
  readonly elicitation: 'none' | 'form' | 'url'
  /** Full form schemas: titled enums, multi-select, defaults beyond booleans. */
  readonly richForms: boolean
  /** Several blocks in one message of a sampling request. */
  readonly blockLists: boolean
  /** `$schema` and any keyword at the root of an input schema. */
  readonly dialects: boolean
  /** `description` and `websiteUrl` of the server. */
  readonly serverDetails: boolean
  readonly batches: boolean
  /** Streams begin with an event that has an id, so that the server may close them and the client resumes. */
  readonly primedStreams: boolean
  /** A result may ask for input, and the client calls again with it. */
  readonly inputRequired: boolean
  /** Both sides declare extensions. Earlier revisions list them under `experimental`, and clients declare nothing. */
  readonly extensions: boolean
}

const first: Features = {
  name: '2024-11-05',
  era: 'legacy',
  toolAnnotations: false,
  titles: false,
  structured: 'none',
  icons: false,
  meta: false,
  audio: false,
  resourceLinks: false,
  lastModified: false,
  completions: false,
  progressMessage: false,
  elicitation: 'none',
  richForms: false,
  blockLists: false,
  dialects: false,
  serverDetails: false,
  batches: false,
  primedStreams: false,
  inputRequired: false,
  extensions: false,
}
const second: Features = {
  ...first,
  name: '2025-03-26',
  toolAnnotations: true,
  audio: true,
  completions: true,
  progressMessage: true,
  batches: true,
}
const third: Features = {
  ...second,
  name: '2025-06-18',
  titles: true,
  structured: 'object',
  meta: true,
  resourceLinks: true,
  lastModified: true,
  elicitation: 'form',
  batches: false,
}
const fourth: Features = {
  ...third,
  name: '2025-11-25',
  icons: true,
  elicitation: 'url',
  richForms: true,
  blockLists: true,
  dialects: true,
  serverDetails: true,
  primedStreams: true,
}
const fifth: Features = {
  ...fourth,
  name: '2026-07-28',
  era: 'modern',
  structured: 'any',
  primedStreams: false,
  inputRequired: true,
  extensions: true,
}

export type RevisionName = '2024-11-05' | '2025-03-26' | '2025-06-18' | '2025-11-25' | '2026-07-28'

export const revisions: { readonly [name in RevisionName]: Features } = {
  '2024-11-05': first,
  '2025-03-26': second,
  '2025-06-18': third,
  '2025-11-25': fourth,
  '2026-07-28': fifth,
}

/** Returns the features of a call's revision. An unsupported name never becomes a call. */
export function featuresOf(name: string): Features {
  const features: Features | undefined = (revisions as { readonly [name: string]: Features })[name]
  if (!features) throw new Error(`Unknown revision: ${name}`)
  return features
}

export const modernRevision = '2026-07-28'
/** The revision offered to a legacy client that asks for an unknown one. */
export const newestLegacy = '2025-11-25'

/** The revision of an HTTP client that names none: the first with Streamable HTTP, which had no header for it. */
export const unnamedOverHttp = '2025-03-26'

/** Returns whether the revision is reached by `initialize`. */
export const isLegacy = (name: unknown): name is RevisionName =>
  typeof name === 'string' && name !== modernRevision && Object.hasOwn(revisions, name)

/** The keys of a request's `_meta` that 2026-07-28 defines. */
export const metaKeys = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  server: 'io.modelcontextprotocol/serverInfo',
} as const
