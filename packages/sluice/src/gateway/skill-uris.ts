/**
 * URIs of skills on the endpoint for all upstreams: `skill://x` of two upstreams are two skills, so each is below the
 * upstream's prefix there. References inside a skill are relative, so its files need no change.
 */

import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Upstream } from './types.ts'

export interface UriNames {
  shown(uri: string): string
  original(uri: string): string
}

const scheme = 'skill://'

export const sameUris: UriNames = { shown: (uri) => uri, original: (uri) => uri }

/** Returns the names on the endpoint for all. Only URIs of skills change, because other URIs stand in texts too. */
export function skillUris({ name, prefix = name }: Upstream): UriNames {
  if (prefix === '') return sameUris
  const below = `${scheme}${prefix}/`
  return {
    shown: (uri) => (uri.startsWith(scheme) ? below + uri.slice(scheme.length) : uri),
    original: (uri) => (uri.startsWith(below) ? scheme + uri.slice(below.length) : uri),
  }
}

/** Returns an object with its `uri` as clients see it. */
export function withShownUri<T extends Params>(entry: T, { shown }: UriNames): T {
  const { uri } = entry
  if (typeof uri !== 'string') return entry
  const name = shown(uri)
  return name === uri ? entry : { ...entry, uri: name }
}

/** Returns an answer with the URIs of its contents, links and embedded resources as clients see them. */
export function withShownUris(answer: Result, names: UriNames): Result {
  if (names === sameUris) return answer
  const renamed = (block: unknown): unknown => {
    if (!isObject(block)) return block
    const { resource, content } = block
    return {
      ...withShownUri(block, names),
      ...(isObject(resource) && { resource: withShownUri(resource, names) }),
      // A message of a prompt has one block.
      ...(isObject(content) && { content: renamed(content) }),
    }
  }
  const lists = ['content', 'contents', 'messages'].flatMap((member) => {
    const blocks = answer[member]
    return Array.isArray(blocks) && blocks.some(mayHaveUri) ? [[member, blocks.map(renamed)]] : []
  })
  return lists.length > 0 ? { ...answer, ...Object.fromEntries(lists) } : answer
}

/** Most blocks are plain text, and are passed on without a copy. */
const mayHaveUri = (block: unknown): boolean =>
  isObject(block) && ('uri' in block || 'resource' in block || isObject(block['content']))
