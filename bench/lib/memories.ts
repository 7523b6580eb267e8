/**
 * Memories as agents write them: decisions, preferences, findings and appointments, two to five sentences about people,
 * systems and numbers. Words follow Zipf's law, and new names keep appearing, as in real notes. The same seed gives the
 * same memories.
 */

export interface Generated {
  readonly text: string
  readonly tags: readonly string[]
  /** The words of the memory's subject, which a person would search for. */
  readonly subject: readonly string[]
}

export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

const syllables = 'ba ka lo mi ter ban den pro sul ver zo ni ra con tes dra pel qui mon fal gri sta lu ven'.split(' ')
/** Returns a unique word for every number, short ones first. */
function wordFor(rank: number): string {
  let word = ''
  for (let rest = rank + syllables.length; rest > 0; rest = Math.floor(rest / syllables.length))
    word += syllables[rest % syllables.length]
  return word
}

const vocabulary = 30_000
const cumulative: number[] = []
{
  let sum = 0
  for (let rank = 0; rank < vocabulary; rank++) {
    sum += 1 / (rank + 10) ** 1.05
    cumulative.push(sum)
  }
}
function zipf(random: () => number): string {
  const target = random() * (cumulative.at(-1) ?? 0)
  let [low, high] = [0, vocabulary - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cumulative[middle] ?? 0) < target) low = middle + 1
    else high = middle
  }
  return wordFor(low)
}

const people =
  'Anna Ben Carla Dmitri Eva Femi Goran Hana Ivo Jun Kaia Lars Mei Nadia Omar Pia Quentin Rosa Sami Tess'.split(' ')
const areas = 'billing search login export mail cache deployment schema invoices reports sync backup'.split(' ')
const templates: readonly ((
  word: () => string,
  pick: (from: readonly string[]) => string,
  number: () => number,
) => string)[] = [
  (word, pick) =>
    `${pick(people)} decided that ${word()} will be used for ${pick(areas)} because ${word()} was too slow.`,
  (word, pick, number) =>
    `The ${pick(areas)} job of ${word()} failed ${number()} times with the error ${word()}-${number()}.`,
  (word, pick) => `${pick(people)} prefers ${word()} over ${word()} and wants to be asked before ${word()} is changed.`,
  (word, pick, number) =>
    `The meeting about ${word()} is on the ${1 + (number() % 28)}th; ${pick(people)} brings the ${word()} report.`,
  (word) => `When ${word()} is upgraded, the ${word()} service has to be restarted and the ${word()} table checked.`,
  (word, pick, number) =>
    `Customer ${word()} ${word()} pays ${number()} euros for ${pick(areas)} and asked for ${word()}.`,
  (word, pick) =>
    `To run the ${word()} tests, set ${word().toUpperCase()}_URL and start ${word()} first; ${pick(people)} knows more.`,
  (word, pick) =>
    `We tried ${word()} for ${pick(areas)}, it did not help; the reason was ${word()} in the ${word()} layer.`,
]

export function* memories(count: number, seed: number): Generator<Generated> {
  const random = createRandom(seed)
  for (let made = 0; made < count; made++) {
    const used: string[] = []
    const word = (): string => {
      const next = zipf(random)
      used.push(next)
      return next
    }
    const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)] ?? ''
    const number = (): number => Math.floor(random() ** 3 * 9000) + 2
    const sentences = Array.from({ length: 2 + Math.floor(random() * 4) }, () =>
      (templates[Math.floor(random() * templates.length)] ?? templates[0])?.(word, pick, number),
    )
    yield { text: sentences.join(' '), tags: [pick(areas), pick(people).toLowerCase()], subject: used }
  }
}

/** Returns questions about existing memories: two to four words of one memory, half of them as a sentence. */
export function questions(count: number, from: readonly Generated[], seed: number): readonly string[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, at) => {
    const { subject } = from[Math.floor(random() * from.length)] ?? { subject: ['nothing'] }
    const words = Array.from(
      { length: 2 + Math.floor(random() * 3) },
      () => subject[Math.floor(random() * subject.length)],
    )
    return at % 2 ? words.join(' ') : `what did we decide about the ${words.join(' and ')}?`
  })
}
