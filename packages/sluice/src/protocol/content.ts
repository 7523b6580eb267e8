/** Content blocks, as tools and prompts return them and as they are sent. */

import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
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
  /** Base64 text or raw bytes. */
  readonly data: string | Uint8Array
  readonly mimeType: string
}
export interface EmbeddedResource extends Common {
  readonly type: 'resource'
  readonly resource: ResourceContents
}
/** A resource as `resources/list` shows it. */
export interface ResourceEntry extends Common {
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly size?: number
  readonly icons?: readonly Icon[]
}
export interface ResourceLink extends ResourceEntry {
  readonly type: 'resource_link'
}
/** One block of the output of a tool or a prompt: text, an image, sound, a resource or a link to one. */
export type ContentBlock = TextContent | MediaContent | EmbeddedResource | ResourceLink

/** The contents at a URI, as text or as bytes in base64. */
export interface ResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text?: string
  /** Base64 text or raw bytes. */
  readonly blob?: string | Uint8Array
  readonly _meta?: Params
}

/** Converts a content block for the wire. Throws if it is not a block of the protocol. Bytes become base64. */
export function toWireBlock(block: unknown): Params {
  if (isObject(block) && hasMeta(block)) {
    const { type, data, resource } = block
    if (type === 'resource') return { ...block, resource: toWireContents(resource) }
    if (type === 'text' && hasTexts(block, 'text')) return block
    if (type === 'resource_link' && hasTexts(block, 'uri', 'name')) return block
    if ((type === 'image' || type === 'audio') && hasTexts(block, 'mimeType') && isBinary(data))
      return { ...block, data: toText(data) }
  }
  throw new TypeError(
    'not a content block: use text, image, audio, resource or resource_link, or an object around data',
  )
}

/** Converts resource contents for the wire. Throws if the URI is missing, or both text and bytes are. */
export function toWireContents(contents: unknown): Params {
  if (isObject(contents) && hasMeta(contents) && hasTexts(contents, 'uri')) {
    const { blob, mimeType = '' } = contents
    if (typeof mimeType === 'string') {
      if (blob === undefined && hasTexts(contents, 'text')) return contents
      if (isBinary(blob)) return { ...contents, blob: toText(blob) }
    }
  }
  throw new TypeError('not resource contents: use a uri with text, or with a blob of bytes or base64')
}

const hasTexts = (value: Params, ...names: readonly string[]): boolean =>
  names.every((name) => typeof value[name] === 'string')

export const hasMeta = ({ _meta = {}, annotations = {} }: Params): boolean => isObject(_meta) && isObject(annotations)

const isBinary = (data: unknown): data is string | Uint8Array =>
  data instanceof Uint8Array ||
  (typeof data === 'string' && data.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(data))

const toText = (data: string | Uint8Array): string => (typeof data === 'string' ? data : toBase64(data))
