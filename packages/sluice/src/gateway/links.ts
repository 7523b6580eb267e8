/**
 * Links in results on the endpoint for all. A link to another upstream's URI would make a client read that upstream's
 * resource, so it becomes text. A link that no list has is remembered, so that it can be read.
 */

import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Tool } from '../protocol/tools.ts'

export interface Links {
  /** Returns the upstream whose result named the URI last. */
  ownerOf(uri: string): string | undefined
  outgoing(upstream: string, answer: Result): Result
}

/** Beyond it the oldest is forgotten. */
const maxLinks = 10_000

export function createLinks(ownerOfUri: (uri: string) => string | undefined): Links {
  const seen = new Map<string, string>()
  function remember(uri: string, upstream: string): void {
    seen.delete(uri)
    seen.set(uri, upstream)
    if (seen.size > maxLinks) for (const oldest of seen.keys()) if (seen.delete(oldest)) break
  }
  return {
    ownerOf: (uri) => seen.get(uri),
    outgoing(upstream, answer) {
      const { content } = answer
      if (!Array.isArray(content) || !content.some(isLink)) return answer
      return {
        ...answer,
        content: content.map((block: unknown) => {
          if (!isLink(block)) return block
          const owner = ownerOfUri(block.uri)
          if (owner === undefined) remember(block.uri, upstream)
          if (owner === undefined || owner === upstream) return block
          return {
            type: 'text',
            text: `${String(block['title'] ?? block['name'] ?? '')}: ${block.uri} (of ${upstream})`,
          }
        }),
      }
    },
  }
}

const isLink = (block: unknown): block is Params & { readonly uri: string } =>
  isObject(block) && block['type'] === 'resource_link' && typeof block['uri'] === 'string'

/**
 * Removes the page of an app from a tool that cannot show it: the page is not a resource of the tool's own upstream, or
 * the endpoint changes names. A page calls tools by their own names, which do not exist there.
 */
export function withOwnPage(tool: Tool, canShow: (uri: string) => boolean): Tool {
  const { _meta } = tool.entry
  if (!_meta) return tool
  const { ui, 'ui/resourceUri': flat, ...rest } = _meta
  const { resourceUri, ...others } = isObject(ui) ? ui : {}
  const isRefused = (uri: unknown): boolean => typeof uri === 'string' && !canShow(uri)
  if (!isRefused(resourceUri) && !isRefused(flat)) return tool
  // `visibility` stays: a tool for pages alone is hidden from the model.
  const kept = { ...rest, ...(Object.keys(others).length > 0 && { ui: others }) }
  const { _meta: _, ...entry } = tool.entry
  return { ...tool, entry: Object.keys(kept).length > 0 ? { ...entry, _meta: kept } : entry }
}
