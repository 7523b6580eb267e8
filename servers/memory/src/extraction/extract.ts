/**
 * Finds entities and relations in an English text: names of people, places, organizations and things, and the verbs
 * between them. It uses word classes, not a language model, so each result has a confidence.
 */

import nlp from 'compromise'
import { type NamedEntity, readSentence, type SentencePart } from './sentence.ts'

export interface ExtractedRelation {
  readonly from: string
  readonly type: string
  readonly to: string
  readonly confidence: number
}
export interface Extraction {
  readonly entities: readonly NamedEntity[]
  readonly relations: readonly ExtractedRelation[]
}

export function extract(text: string): Extraction {
  const sentences = (nlp(joinLines(text)).json() as readonly Parameters<typeof readSentence>[0][]).map(readSentence)
  const entities = new Map<string, NamedEntity>()
  const fullNames = new Map<string, string>()
  const resolve = (entity: NamedEntity): NamedEntity => {
    const name = fullNames.get(entity.name) ?? entity.name
    return entities.get(name.toLowerCase()) ?? { ...entity, name }
  }
  for (const sentence of sentences)
    for (const part of sentence) {
      if (part.kind !== 'entity') continue
      const { entity } = part
      const [first, ...rest] = entity.name.split(' ')
      // After "Anna Schmidt", "Anna" is the same person.
      if (entity.type === 'person' && first && rest.length > 0) fullNames.set(first, entity.name)
      const { name } = resolve(entity)
      const known = entities.get(name.toLowerCase())
      entities.set(name.toLowerCase(), known ? merge(known, entity) : { ...entity, name })
    }
  const relations = new Map<string, ExtractedRelation>()
  let person: NamedEntity | undefined
  for (const sentence of sentences) {
    const resolved = sentence.map((part) => (part.kind === 'entity' ? { ...part, entity: resolve(part.entity) } : part))
    for (const relation of relationsOf(resolved, person)) {
      const key = [relation.from, relation.type, relation.to].join('\n').toLowerCase()
      const known = relations.get(key)
      if (!known || known.confidence < relation.confidence) relations.set(key, relation)
    }
    for (const part of resolved) if (part.kind === 'entity' && part.entity.type === 'person') person = part.entity
  }
  return { entities: [...entities.values()], relations: [...relations.values()] }
}

/** Joins the lines of a paragraph: a line may end in the middle of a sentence. A list or a heading stays apart. */
const joinLines = (text: string): string => text.replace(/(?<=\S[ \t]*)\r?\n(?=[ \t]*[^\s#>*+-])/g, ' ')

const merge = (a: NamedEntity, b: NamedEntity): NamedEntity => ({
  name: a.name,
  type: a.type === 'thing' ? b.type : a.type,
  confidence: Math.max(a.confidence, b.confidence),
})

/** A verb near its object is more reliable than one with other words between. */
const [nearConfidence, farConfidence] = [0.9, 0.75]
/** The person that "she" means is a guess. */
const pronounFactor = 0.7

function* relationsOf(
  sentence: readonly SentencePart[],
  lastPerson: NamedEntity | undefined,
): Generator<ExtractedRelation> {
  let subjects: readonly NamedEntity[] = []
  let factor = 1
  let verb: { readonly text: string; readonly isNegated: boolean } | undefined
  let preposition = ''
  let between = 0
  let isJoined = false
  for (const part of sentence) {
    if (part.kind === 'entity') {
      if (!verb) subjects = isJoined ? [...subjects, part.entity] : [part.entity]
      else if (!verb.isNegated)
        for (const from of subjects)
          if (from.name !== part.entity.name)
            yield {
              from: from.name,
              type: preposition === '' ? verb.text : `${verb.text}_${preposition}`,
              to: part.entity.name,
              confidence: round(
                Math.min(from.confidence, part.entity.confidence, between > 1 ? farConfidence : nearConfidence) *
                  factor,
              ),
            }
      if (!verb) factor = 1
      between = 0
    } else if (part.kind === 'verb') {
      verb = part
      preposition = ''
      between = 0
    } else if (part.kind === 'preposition') {
      preposition = part.text
      between = 0
    } else if (part.kind === 'pronoun') {
      subjects = lastPerson ? [lastPerson] : []
      factor = pronounFactor
      verb = undefined
    } else if (part.kind === 'clause') verb = undefined
    else if (part.kind === 'end') {
      subjects = []
      verb = undefined
    } else between++
    isJoined = part.kind === 'and'
  }
}

const round = (value: number): number => Math.round(value * 100) / 100
