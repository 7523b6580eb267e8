/** Content blocks, as tools and prompts give them and as the wire takes them. */

import type { Params } from '../core/json.ts'
import { toBase64 } from '../core/seal.ts'

export interface Annotations {
  readonly audience?: readonly ('user' | 'assistant')[]
  readonly priority?: number
  readonly lastModified?: string
}
interface Common {
  readonly annotations?: Annotations
  readonly _meta?: Params
}
export interface Icon {
  readonly src: string
  readonly mimeType?: string
  readonly sizes?: readonly string[]
  readonly theme?: 'light' | 'dark'
}
export interface TextContent extends Common {
  readonly type: 'text'
  readonly text: string
}
export interface MediaContent extends Common {
  readonly type: 'image' | 'audio'
  /** Base64, or the bytes themselves. */
  readonly data: string | Uint8Array
  readonly mimeType: string
}
export interface EmbeddedResource extends Common {
  readonly type: 'resource'
  readonly resource: ResourceContents
}
export interface ResourceLink extends Common {
  readonly type: 'resource_link'
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
  readonly icons?: readonly Icon[]
}
/** One piece of what a tool or a prompt says: text, an image, sound, a resource or a link to one. */
export type ContentBlock = TextContent | MediaContent | EmbeddedResource | ResourceLink

/** What is at a URI, as text or as bytes in base64. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  /** Base64, or the bytes themselves. */
  readonly blob?: string | Uint8Array
  readonly _meta?: Params
}

/** Bytes become base64 here; everything else passes as it is. */
export function toWireBlock(block: ContentBlock): ContentBlock {
  if ((block.type === 'image' || block.type === 'audio') && typeof block.data !== 'string')
    return { ...block, data: toBase64(block.data) }
  if (block.type === 'resource') return { ...block, resource: toWireContents(block.resource) }
  return block
}

export const toWireContents = (contents: ResourceContents): ResourceContents =>
  contents.blob === undefined || typeof contents.blob === 'string'
    ? contents
    : { ...contents, blob: toBase64(contents.blob) }
