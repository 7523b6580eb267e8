/**
 * Compares the text of a tool's result with its structured content. Some clients give the model only the latter, so it
 * must not say less.
 */

interface Result {
  readonly content: readonly { readonly text?: string; readonly resource?: { readonly text?: string } }[]
  readonly structuredContent?: unknown
}

/** IDs, addresses and numbers. The number before a dot at the start of a line is the position in a list. */
const fact = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}|\w+:\/\/\S+|(?<![\w.-])\d[\d,]*(?:\.\d+)?(?![\w-])/g
const position = /^\d+\. /gm

/** Returns what the texts say and the structured content does not: numbers, IDs, and those of the given words. */
export function missingFacts({ content, structuredContent }: Result, words: readonly string[]): readonly string[] {
  const leaves = [...leavesOf(structuredContent)]
  const strings = leaves.filter((leaf) => typeof leaf === 'string')
  const numbers = leaves.filter((leaf) => typeof leaf === 'number')
  const isSaid = (said: string): boolean => {
    const value = Number(said.replaceAll(',', ''))
    return strings.some((text) => text.includes(said)) || numbers.some((number) => Math.abs(number - value) < 0.051)
  }
  const text = content.map((block) => block.text ?? block.resource?.text ?? '').join('\n')
  const facts = [...text.replace(position, '').matchAll(fact)].map(([said]) => said)
  return [...facts, ...words.filter((word) => text.includes(word))].filter((said) => !isSaid(said))
}

/** A count of the text may be the length of a list. Keys count, because a table by name has them. */
function* leavesOf(value: unknown): Generator<string | number> {
  if (typeof value === 'string' || typeof value === 'number') yield value
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) yield value.length
  else yield* Object.keys(value)
  for (const each of Object.values(value)) yield* leavesOf(each)
}
