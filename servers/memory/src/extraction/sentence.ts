/** Turns the tagged words of a sentence into the parts that relations are made of. */

export interface NamedEntity {
  readonly name: string
  readonly type: 'person' | 'place' | 'organization' | 'thing'
  /** From 0 to 1. */
  readonly confidence: number
}

export type SentencePart =
  | { readonly kind: 'entity'; readonly entity: NamedEntity }
  | { readonly kind: 'verb'; readonly text: string; readonly isNegated: boolean }
  | { readonly kind: 'preposition'; readonly text: string }
  /** he, she */
  | { readonly kind: 'pronoun' }
  /** "who" and "which" begin a clause about the entity before them. */
  | { readonly kind: 'clause' }
  | { readonly kind: 'and' }
  /** The sentence ended at an abbreviation: "… Acme Corp. Then …". */
  | { readonly kind: 'end' }
  | { readonly kind: 'other' }

interface Term {
  readonly text: string
  readonly post: string
  readonly tags: readonly string[]
}

const prepositions = new Set('in at on of for with from to by into onto over about as under near'.split(' '))
const kinds = { Person: 'person', Place: 'place', Organization: 'organization' } as const
/** SQLite, DeepMind, NASA */
const innerCapital = /^\p{Lu}[\p{L}\d]*\p{Lu}[\p{L}\d]*$/u

export function readSentence({ terms }: { readonly terms: readonly Term[] }): readonly SentencePart[] {
  const parts: SentencePart[] = []
  let isNegated = false
  for (let at = 0; at < terms.length; ) {
    const run = entityAt(terms, at)
    if (run) {
      parts.push({ kind: 'entity', entity: run.entity })
      if (endsSentence(terms[run.end - 1])) parts.push({ kind: 'end' })
      at = run.end
      continue
    }
    const { text, tags } = terms[at] as Term
    const word = text.toLowerCase()
    if (tags.includes('Negative')) isNegated = true
    else if (tags.includes('Verb')) {
      // The last verb of "was born" or "has decided to use" carries the meaning.
      const isAuxiliary = tags.includes('Auxiliary') || (tags.includes('Copula') && leadsToVerb(terms, at + 1))
      if (!isAuxiliary) {
        parts.push({ kind: 'verb', text: word.replace(/[^\p{L}\d]+/gu, '_'), isNegated })
        isNegated = false
      }
    } else if (prepositions.has(word)) parts.push({ kind: 'preposition', text: word })
    else if (/^(?:he|she)$/.test(word)) parts.push({ kind: 'pronoun' })
    else if (/^(?:who|which|that)$/.test(word)) parts.push({ kind: 'clause' })
    else if (/^(?:and|&)$/.test(word)) parts.push({ kind: 'and' })
    else if (!tags.includes('Determiner')) parts.push({ kind: 'other' })
    at++
  }
  return parts
}

const leadsToVerb = (terms: readonly Term[], from: number): boolean => {
  const next = terms.slice(from).find(({ tags }) => !tags.includes('Adverb') && !tags.includes('Negative'))
  return next?.tags.includes('Verb') === true
}

function entityAt(
  terms: readonly Term[],
  from: number,
): { readonly entity: NamedEntity; readonly end: number } | undefined {
  const names: string[] = []
  let type: NamedEntity['type'] = 'thing'
  let confidence = 0
  let end = from
  for (; end < terms.length; end++) {
    const term = terms[end] as Term
    const certainty = nameConfidence(terms, end)
    const kind = kindOf(term)
    const isOther = kind !== 'thing' && type !== 'thing' && kind !== type
    if (certainty === 0 || (names.length > 0 && isOther)) break
    if (!term.tags.includes('Honorific')) names.push(term.text.replace(/[’']s?$/, ''))
    if (kind !== 'thing') type = kind
    confidence = Math.max(confidence, certainty)
    // A comma, the end of a bracket or of a sentence ends a name.
    if (/[^\s.]/.test(term.post) || endsSentence(term) || /[’']s?$/.test(term.text)) {
      end++
      break
    }
  }
  const name = names.join(' ')
  return /\p{L}/u.test(name)
    ? { entity: { name, type, confidence: type === 'thing' ? confidence : 0.9 }, end }
    : undefined
}

/** The dot after an initial or a title does not end a sentence. */
const endsSentence = (term: Term | undefined): boolean =>
  term?.post.includes('.') === true && term.text.length > 1 && !term.tags.includes('Honorific')

const kindOf = ({ tags }: Term): NamedEntity['type'] => {
  for (const [tag, kind] of Object.entries(kinds)) if (tags.includes(tag)) return kind
  return 'thing'
}

/** Returns how certain it is that the word is part of a name; 0 if it is not. */
function nameConfidence(terms: readonly Term[], at: number): number {
  const { text, tags } = terms[at] as Term
  if (tags.includes('Date') || tags.includes('Pronoun')) return 0
  if (innerCapital.test(text)) return 0.8
  if (tags.includes('ProperNoun')) return 0.75
  // "Sluice depends on …": a capital without an article, before a verb.
  const isSubject = at === 0 && /^\p{Lu}/u.test(text) && tags.includes('Noun') && tags.includes('Singular')
  return isSubject && terms[1]?.tags.includes('Verb') ? 0.7 : 0
}
