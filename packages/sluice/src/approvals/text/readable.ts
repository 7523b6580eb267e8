/** Calls and answers as text for people. The console reads it too, so it imports no code but the marks. */

import type { Effect } from '../../core/target.ts'
import type { Proposal } from '../ticket.ts'
import { markedText } from './marked-text.ts'

/** Returns one line per label. Values are quoted, because a text with line breaks could otherwise forge a line. */
export const effectLines = (effect: Effect | undefined): readonly string[] =>
  Object.entries(effect ?? {}).map(([label, value]) => `${label}: ${JSON.stringify(value)}`)

/** Spreads JSON over lines. Line breaks inside a text stay escaped, so that no text can forge a line. */
const readableJson = (json: string): string => markedText(JSON.stringify(JSON.parse(json), undefined, 2))

/** The parts of a call: what it acts on, its arguments, and the answers to its questions. Parts without content are left out. */
export function callParts({
  effect,
  arguments: args,
  answers,
}: Pick<Proposal, 'effect' | 'arguments' | 'answers'>): readonly (readonly [title: string, text: string])[] {
  const effects = effectLines(effect)
  return [
    ...(effects.length > 0 ? [['Acts on', markedText(effects.join('\n'))] as const] : []),
    ['Arguments', readableJson(args)],
    ...(answers === '{}' ? [] : [['Answers to its questions', readableJson(answers)] as const]),
  ]
}

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
