/**
 * Memories with questions whose answers are known, to measure what a search finds. Each fact is queried three times: in
 * its own words, in synonyms, and by a name or number that only it has. A few thousand other facts share its words.
 */
import { synonymGroups } from '../../test/kit/generators/synonyms.ts'
import { createRandom, memories } from './memories.ts'

export interface LabelledSet {
  readonly memories: readonly string[]
  readonly questions: readonly { readonly ask: string; readonly kind: Kind; readonly answer: number }[]
}
export type Kind = 'same words' | 'same meaning' | 'name'

const names = 'Anna Ben Carla Dmitri Eva Femi Goran Hana Ivo Jun Kaia Lars Mei Nadia Omar Pia'.split(' ')
const places = 'Delft Porto Turku Ghent Graz Brno Lviv Split Bern Oslo Riga Vigo'.split(' ')

export function labelled(facts: number, noise: number): LabelledSet {
  const random = createRandom(11)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const texts: string[] = []
  const questions: LabelledSet['questions'][number][] = []
  // Each pair of meanings is used once, so that there is one right answer.
  const asked = new Set<string>()
  while (texts.length < facts) {
    const [first, second] = [pick(synonymGroups), pick(synonymGroups)]
    const [who, where] = [pick(names), pick(places)]
    const about = [first, second, who, where].join('|')
    if (first === second || asked.has([first, second].join('|')) || asked.has([second, first].join('|'))) continue
    asked.add([first, second].join('|'))
    asked.add(about)
    const [a, b] = [pick(first), pick(second)]
    const code = `${where.slice(0, 2).toUpperCase()}-${1000 + texts.length}`
    const answer = texts.length
    texts.push(`${who} noted the ${a} and the ${b} in ${where}, filed under ${code}.`)
    const [otherA, otherB] = [first.find((word) => word !== a) ?? a, second.find((word) => word !== b) ?? b]
    questions.push({ ask: `what about the ${a} and the ${b}?`, kind: 'same words', answer })
    questions.push({ ask: `what about the ${otherA} and the ${otherB}?`, kind: 'same meaning', answer })
    questions.push({ ask: `what is filed under ${code}`, kind: 'name', answer })
  }
  return { memories: [...texts, ...[...memories(noise, 12)].map(({ text }) => text)], questions }
}
