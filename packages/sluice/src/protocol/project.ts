/**
 * Projects results of the newest revision onto an older one. A feature that the older revision lacks is omitted, or
 * written as text if omitting it would lose the answer. `revisions.ts` lists the features of each revision.
 */

import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { ServerInfo } from './definition.ts'
import type { Features } from './revisions.ts'

/** Returns the members that a revision does not have, anywhere in a definition. */
const unsupportedMembers = ({ titles, icons, meta }: Features): readonly (string | false)[] => [
  !titles && 'title',
  !icons && 'icons',
  !meta && '_meta',
]

const omit = (value: Params, ...names: readonly (string | false)[]): Params =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

/** Projects an entry of `resources/list`, `resources/templates/list` or `prompts/list`. */
export function projectEntry(entry: Params, features: Features): Params {
  const names = unsupportedMembers(features)
  const rest = omit(entry, ...names)
  return {
    ...rest,
    ...(isObject(rest['annotations']) && { annotations: projectAnnotations(rest['annotations'], features) }),
    ...(Array.isArray(rest['arguments']) && {
      arguments: rest['arguments'].map((argument: Params) => omit(argument, ...names)),
    }),
  }
}

export function projectTool(entry: Params, features: Features): Params {
  const { structured, toolAnnotations, dialects } = features
  const output = entry['outputSchema']
  const objectOnly = structured === 'object' && isObject(output) && output['type'] !== 'object'
  const rest = omit(
    entry,
    ...unsupportedMembers(features),
    !toolAnnotations && 'annotations',
    (structured === 'none' || objectOnly) && 'outputSchema',
  )
  if (dialects) return rest
  const plain = ['inputSchema', 'outputSchema'].flatMap((name) => {
    const schema = rest[name]
    return isObject(schema) ? [[name, omit(schema, '$schema')]] : []
  })
  return { ...rest, ...Object.fromEntries(plain) }
}

/** Returns what a server says about itself. A definition has further members, which do not leave. */
export function projectServerInfo(info: ServerInfo, features: Features): Params {
  const { name, version, title, icons, description, websiteUrl } = info
  const { serverDetails } = features
  const details = serverDetails ? { description, websiteUrl } : {}
  const known = Object.entries({ name, version, title, icons, ...details }).filter(([, value]) => value !== undefined)
  return omit(Object.fromEntries(known), ...unsupportedMembers(features))
}

const projectAnnotations = (annotations: Params, { lastModified }: Features): Params =>
  lastModified ? annotations : omit(annotations, 'lastModified')

/** Projects a result of `method` for a revision before 2026-07-28. The newest revision gets it unchanged. */
export function projectResult(method: string, result: Result, features: Features): Params {
  const { resultType: _, ttlMs: __, cacheScope: ___, ...rest } = result
  if (method === 'tools/call') return projectToolResult(rest, features)
  if (method === 'prompts/get' && Array.isArray(rest['messages']))
    return {
      ...rest,
      messages: rest['messages'].map((message: Params) => ({
        ...message,
        content: projectBlock(message['content'], features),
      })),
    }
  if (method === 'resources/read' && Array.isArray(rest['contents']) && !features.meta)
    return { ...rest, contents: rest['contents'].map((contents: Params) => omit(contents, '_meta')) }
  return rest
}

function projectToolResult(result: Params, features: Features): Params {
  const { structuredContent, ...rest } = result
  const content = Array.isArray(rest['content']) ? rest['content'] : []
  const structured = features.structured === 'any' || (features.structured === 'object' && isObject(structuredContent))
  return {
    ...rest,
    content: content.map((block: unknown) => projectBlock(block, features)),
    ...(structured && structuredContent !== undefined && { structuredContent }),
  }
}

/** Projects the messages of a sampling request. Several blocks become several messages where a message has one. */
export const projectMessages = (messages: readonly Params[], features: Features): readonly Params[] =>
  messages.flatMap(({ content, ...message }) => {
    const blocks = [content].flat().map((block) => projectBlock(block, features))
    return Array.isArray(content) && features.blockLists
      ? { ...message, content: blocks }
      : blocks.map((block) => ({ ...message, content: block }))
  })

function projectBlock(block: unknown, features: Features): unknown {
  if (!isObject(block)) return block
  if (block['type'] === 'audio' && !features.audio)
    return { type: 'text', text: `[audio, ${String(block['mimeType'])}: this client's protocol revision has no audio]` }
  if (block['type'] === 'resource_link' && !features.resourceLinks)
    return { type: 'text', text: `${String(block['title'] ?? block['name'])}: ${String(block['uri'])}` }
  if (features.meta && features.icons) return block
  const rest = omit(block, ...unsupportedMembers(features))
  const { annotations, resource } = rest
  return {
    ...rest,
    ...(isObject(annotations) && { annotations: projectAnnotations(annotations, features) }),
    ...(isObject(resource) && !features.meta && { resource: omit(resource, '_meta') }),
  }
}
