/** An answer to a question of a running call, as text for people. The console reads it too, so it imports nothing. */

/** What became of a question, and the content of its answer as JSON text. */
export interface ReadableAnswer {
  readonly outcome: 'answered' | 'declined' | 'cancelled' | 'no answer yet'
  readonly text?: string
}

/** Reads an elicitation's action and content. Other answers, and those that were cut, are shown as they are. */
export function readableAnswer(answer: string | undefined): ReadableAnswer {
  if (answer === undefined) return { outcome: 'no answer yet' }
  const value = parse(answer)
  if (value === undefined) return { outcome: 'answered', text: answer }
  const { action, content, ...rest } = value
  const word = outcomes.get(action)
  const shown = word && Object.keys(rest).length === 0 ? content : value
  return { outcome: word ?? 'answered', ...(shown !== undefined && { text: JSON.stringify(shown, undefined, 2) }) }
}

const outcomes: ReadonlyMap<unknown, ReadableAnswer['outcome']> = new Map([
  ['accept', 'answered'],
  ['decline', 'declined'],
  ['cancel', 'cancelled'],
])

function parse(text: string): { readonly [member: string]: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
