/** Formats output in the two formats of the fitness document, each with its content type. See docs/documents.md#001. */

import { toon } from 'sluice/toon'

export interface FormattedOutput {
  readonly data: string
  readonly content_type: 'application/json' | 'application/vnd.toon'
}

/** Ignores the case of `format`. Anything but `toon` is JSON, and so is data that TOON would make longer. */
export function formatOutput(value: object, format = 'json'): FormattedOutput {
  const json = JSON.stringify(value)
  if (format.toLowerCase() !== 'toon') return { data: json, content_type: 'application/json' }
  const { content } = toon({ structuredContent: value, content: [{ type: 'text', text: json }] })
  const [block] = content as readonly { readonly text: string }[]
  const data = block?.text ?? json
  return { data, content_type: data === json ? 'application/json' : 'application/vnd.toon' }
}
