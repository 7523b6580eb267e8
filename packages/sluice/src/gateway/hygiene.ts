/**
 * What an upstream sends is data of another party. Its `_meta` must not speak for the gateway or the protocol, and its
 * pictures must not make clients open other schemes.
 */

import type { Result } from '../core/answer.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Icon } from '../protocol/content.ts'

/** Returns whether a key of `_meta` belongs to Sluice or to the protocol: `dev.sluice/…`, `io.modelcontextprotocol/…`. */
function isReserved(key: string): boolean {
  const slash = key.indexOf('/')
  if (slash === -1) return false
  const [first, second] = key.slice(0, slash).toLowerCase().split('.')
  if (first === 'dev' && second === 'sluice') return true
  return [first, second].some((label) => label === 'modelcontextprotocol' || label === 'mcp')
}

/** Returns `_meta` without reserved keys; `undefined` if nothing is left. */
function cleanMeta(meta: unknown): Params | undefined {
  if (!isObject(meta)) return undefined
  const kept = Object.entries(meta).filter(([key]) => !isReserved(key))
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}

export function withCleanMeta<T extends Params>(value: T): T {
  if (!('_meta' in value)) return value
  const { _meta, ...rest } = value
  const meta = cleanMeta(_meta)
  return (meta ? { ...rest, _meta: meta } : rest) as T
}

/** Returns the icons that a client may show. Others could open files, scripts or addresses inside a network. */
export function cleanIcons(icons: unknown): readonly Icon[] | undefined {
  if (!Array.isArray(icons)) return undefined
  const kept = icons.filter(
    (icon): icon is Icon =>
      isObject(icon) && typeof icon['src'] === 'string' && /^(https:\/\/|data:image\/)/i.test(icon['src']),
  )
  return kept.length > 0 ? kept : undefined
}

/** Returns a content block or the contents of a resource with clean `_meta`, the embedded resource's included. */
function cleanBlock(block: unknown): unknown {
  if (!isObject(block)) return block
  const clean = withCleanMeta(block)
  const { resource, icons } = clean
  if (!isObject(resource) && icons === undefined) return clean
  return {
    ...clean,
    ...(isObject(resource) && { resource: withCleanMeta(resource) }),
    ...(icons !== undefined && { icons: cleanIcons(icons) ?? [] }),
  }
}

/** Most blocks are plain text, and are passed on without a copy. */
const needsCleaning = (block: unknown): boolean =>
  isObject(block) && ('_meta' in block || 'resource' in block || 'icons' in block)

const cleanBlocks = (blocks: unknown): unknown =>
  Array.isArray(blocks) && blocks.some(needsCleaning) ? blocks.map(cleanBlock) : blocks

/**
 * Returns a complete result as the gateway's own answer: without the upstream's `resultType`, reserved `_meta` and cache
 * scope. Members that are not known are kept.
 */
export function cleanResult(result: Params): Result {
  const { resultType: _type, _meta, ttlMs, cacheScope: _scope, ...rest } = result
  const meta = _meta === undefined ? undefined : cleanMeta(_meta)
  const { content, contents, messages } = rest
  const clean: { [member: string]: unknown } = rest
  if (content !== undefined) clean['content'] = cleanBlocks(content)
  if (contents !== undefined) clean['contents'] = cleanBlocks(contents)
  if (Array.isArray(messages)) clean['messages'] = messages.map(cleanMessage)
  // The upstream cannot know which callers may see the answer here.
  if (typeof ttlMs === 'number' && ttlMs >= 0) {
    clean['ttlMs'] = ttlMs
    clean['cacheScope'] = 'private'
  }
  if (meta) clean['_meta'] = meta
  return clean
}

const cleanMessage = (message: unknown): unknown =>
  isObject(message) && needsCleaning(message['content'])
    ? { ...message, content: cleanBlock(message['content']) }
    : message
