/** Synonyms for the embedding service of the tests: what a model has learnt and words alone do not show. */

const groups: readonly string[] = [
  'car automobile vehicle',
  'doctor physician medic',
  'buy purchase acquire',
  'begin start commence launch',
  'quick fast rapid speedy',
  'error fault failure bug defect',
  'repair fix mend patch',
  'house home residence dwelling',
  'child kid youngster',
  'holiday vacation leave',
  'money cash funds budget',
  'picture image photo',
  'meeting appointment gathering',
  'boss manager supervisor',
  'delete remove erase',
  'salary wage pay income',
  'ill sick unwell',
  'flat apartment',
  'film movie',
  'autumn fall',
  'drink beverage',
  'shop store',
  'dog hound puppy',
  'cat kitten feline',
  'garden yard',
  'password passphrase credential',
  'server host machine',
  'database datastore',
  'customer client buyer',
  'contract agreement',
  'invoice bill',
  'angry furious upset',
  'happy glad pleased',
  'teacher instructor tutor',
  'student pupil learner',
  'birthday anniversary',
  'wedding marriage',
  'train railway',
  'plane aircraft flight',
  'ship vessel boat',
  'lawyer attorney solicitor',
  'exam examination quiz',
  'answer reply response',
  'choose select pick prefer',
  'hate dislike loathe',
  'love adore like',
  'dinner supper',
  'trip journey travel voyage',
  'gift present',
  'illness disease',
]

const meanings = new Map<string, string>(
  groups.flatMap((group) => group.split(' ').map((word) => [word, group] as const)),
)

/** The group's first word represents all; a regular plural or past form counts as the word. */
export function synonymGroupOf(word: string): string {
  // As for real models, all numbers are similar.
  if (/\d/.test(word)) return 'number'
  for (const form of [word, word.replace(/s$/, ''), word.replace(/e?d$/, ''), word.replace(/ing$/, '')]) {
    const group = meanings.get(form)
    if (group) return group
  }
  return word.replace(/(ing|ed|s)$/, '')
}

export const synonymGroups: readonly (readonly string[])[] = groups.map((group) => group.split(' '))
