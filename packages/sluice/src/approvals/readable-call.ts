/** A call as text for people: over several lines, with hidden characters made visible. */

import { effectLines } from './effect.ts'
import { markedText } from './marked-text.ts'
import type { Proposal } from './ticket.ts'

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
