/**
 * Compares the two forms of a tool's result. Some clients give the model only `structuredContent`, so it must say
 * everything that the text says. And an API of a model refuses a conversation with an image that it cannot decode.
 */

interface Block {
  readonly type: string
  readonly text?: string
  readonly mimeType?: string
}

export interface ToolAnswer {
  readonly content: readonly Block[]
  readonly structuredContent?: object
}

const imageTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/**
 * Returns the words and numbers of the text that the data lacks, and the images that clients cannot show. `labels` are
 * the words that only connect: "Steps", "is in the debugger".
 */
export function saidOnlyInText({ content, structuredContent }: ToolAnswer, labels: string): readonly string[] {
  const images = content.flatMap(({ type, mimeType = '' }) =>
    type === 'image' && !imageTypes.includes(mimeType) ? [`image of ${mimeType}`] : [],
  )
  if (structuredContent === undefined) return images
  const data = normalize(JSON.stringify(structuredContent))
  const known = new Set(wordsOf(labels))
  const text = content.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('\n')
  return [...images, ...new Set(wordsOf(text).filter((word) => !known.has(word) && !data.includes(word)))]
}

/** Escapes of JSON are not words, and JSON does not write the number of rows, as TOON does. */
const normalize = (text: string): string =>
  text
    .replace(/\[\d+\](?=[{:])/g, '')
    .replace(/\\[nrt]/g, ' ')
    .replaceAll('\\', '')
    .toLowerCase()
const wordsOf = (text: string): readonly string[] => normalize(text).match(/[\p{L}\p{N}]+(?:\.\p{N}+)*/gu) ?? []
