/**
 * `resource()` defines content at a URI, or at every URI that an RFC 6570 template describes.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */

import type { Result } from '../core/answer.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ArgumentIssues, Ready, Target } from '../core/target.ts'
import type { UriTemplate } from '../core/uri-template.ts'
import { parseTemplate } from '../core/uri-template.ts'
import { encodeKeepingReserved } from '../core/uri-template-grammar.ts'
import { assertSendable } from './assert-sendable.ts'
import type { Completers, Completion } from './completion.ts'
import { completion } from './completion.ts'
import type { ResourceContents, ResourceEntry } from './content.ts'
import { toWireContents } from './content.ts'
import { policyOf } from './policy.ts'
import type { Asks } from './questions.ts'
import { askWith } from './questions.ts'
import { createResourceList } from './resource-list.ts'
import type { ToolContext } from './tool-context.ts'
import { toolContextOf } from './tool-context.ts'

/** The values that the template's variables matched. */
export type Variables = { readonly [name: string]: string | readonly string[] }

/** Text, bytes, or whole contents; `undefined` if there is nothing at that URI. */
export type ReadResult = string | Uint8Array | Partial<ResourceContents> | readonly ResourceContents[] | undefined

/** The options of `resource`. */
export interface ResourceDefinition<A extends Asks = Record<never, never>> extends Omit<ResourceEntry, '_meta'> {
  /** An absolute URI, or a template such as `note://{year}/{slug}`. */
  readonly uri: string
  readonly meta?: Params
  readonly scopes?: readonly string[]
  readonly listed?: boolean
  readonly timeoutMs?: number
  /**
   * How long a client may cache the contents. Not cached by default. `public` contents may be shared between callers.
   */
  readonly cache?: { readonly ttlMs: number; readonly scope: 'public' | 'private' }
  /** Suggestions for a template's variables. */
  readonly complete?: Completers
  /**
   * Lists the resources of a template, a page at a time. `next` comes back as `cursor`, but any client can make one up.
   */
  list?(page: { readonly cursor?: string }, context: ToolContext): ResourcePage | Promise<ResourcePage>
  ask?(variables: Variables, answers: Params, call: ToolContext['call']): A | Promise<A>
  read(variables: Variables, context: ToolContext<A>): ReadResult | Promise<ReadResult>
}
export interface ResourcePage {
  readonly resources: readonly ResourceEntry[]
  readonly next?: string
}

/** A resource, or a template of many, that is ready for a server definition. */
export interface Resource extends Target {
  readonly kind: 'resource'
  /** The entry in lists for the newest revision, with `uri`, or with `uriTemplate` for a template. */
  readonly entry: Params
  readonly template: UriTemplate | undefined
  readonly complete: Completers
  readonly completion: Completion
  /** Creates `resources/list`, if one of the templates can list. */
  readonly createList: typeof createResourceList
  readonly list: ResourceDefinition['list'] | undefined
}

/** Defines a resource at a URI, or at all URIs of a template: `resource({ uri, name, read })`. */
export function resource<A extends Asks = Record<never, never>>(definition: ResourceDefinition<A>): Resource {
  const { uri, name, title, description, mimeType, size, annotations, icons, meta, cache } = definition
  const where = `resource "${uri}"`
  if (typeof name !== 'string' || name === '') throw new TypeError(`${where}: add a name`)
  if (!/^[A-Za-z][A-Za-z0-9+.-]*:/.test(uri))
    throw new TypeError(`${where}: the URI needs a scheme, for instance note://${uri}`)
  const template = uri.includes('{') ? parseTemplate(uri) : undefined
  if (!template && (!URL.canParse(uri) || encodeKeepingReserved(uri) !== uri))
    throw new TypeError(
      `${where}: not a valid URI; encode the characters that RFC 3986 does not allow, as in ${encodeKeepingReserved(uri)}`,
    )
  for (const variable of Object.keys(definition.complete ?? {}))
    if (!template?.names.includes(variable))
      throw new TypeError(`${where}: "complete.${variable}" is not a variable of the template`)
  if (definition.list && !template)
    throw new TypeError(`${where}: "list" is for templates, and this is a single resource`)
  const entry: Params = {
    ...(template ? { uriTemplate: uri } : { uri }),
    name,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(mimeType !== undefined && { mimeType }),
    ...(size !== undefined && !template && { size }),
    ...(annotations && { annotations }),
    ...(icons && { icons }),
    ...(meta && { _meta: meta }),
  }
  const policy = policyOf(definition, where, { readOnly: true })
  const hints = { ttlMs: cache?.ttlMs ?? 0, cacheScope: cache?.scope ?? 'private' }
  return {
    kind: 'resource',
    name: uri,
    policy,
    entry,
    template,
    complete: definition.complete ?? {},
    completion,
    createList: createResourceList,
    list: definition.list,
    asks: definition.ask !== undefined,
    prepare(args): Ready | ArgumentIssues {
      const at = String(args)
      const variables = template ? template.match(at) : {}
      if (!variables) throw resourceNotFound(at)
      return {
        ...(definition.ask && { ask: askWith((answers, call) => definition.ask?.(variables, answers, call)) }),
        async run(call, answers): Promise<Result> {
          const read = await definition.read(variables, toolContextOf<A>(call, answers))
          if (read === undefined) throw resourceNotFound(at)
          assertSendable(read, call)
          return { contents: toContents(read, at, mimeType), ...hints }
        },
      }
    },
  }
}

/** One text for a URI without a definition, one without contents, and one that the caller may not see. */
export const resourceNotFound = (uri: string): RpcError =>
  new RpcError('resourceNotFound', 'Resource not found', { data: { uri: uri.slice(0, 2048).toWellFormed() } })

function toContents(read: NonNullable<ReadResult>, uri: string, mimeType: string | undefined): readonly Params[] {
  const basis = { uri, ...(mimeType !== undefined && { mimeType }) }
  if (typeof read === 'string') return [{ ...basis, text: read }]
  if (read instanceof Uint8Array)
    return [toWireContents({ mimeType: 'application/octet-stream', ...basis, blob: read })]
  if (Array.isArray(read)) return read.map(toWireContents)
  if (isObject(read) && ('text' in read || 'blob' in read)) return [toWireContents({ ...basis, ...read })]
  throw new TypeError(`resource "${uri}": read must return text, bytes or { text } or { blob }`)
}
