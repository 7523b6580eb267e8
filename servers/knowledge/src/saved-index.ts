/**
 * MiniSearch over a saved form in which each word is one string, unpacked at the first query for that word.
 * MiniSearch's own form is millions of small numbers that are all read at once. With 10,000 articles that takes most of
 * a start, and on the edge every cold start pays for it.
 */

import MiniSearch, { type AsPlainObject, type Options } from 'minisearch'

type SavedHeader = Omit<AsPlainObject, 'index'>

/**
 * Postings are one string per word: fields separated by `;`, each with its number and then pairs of article and
 * frequency.
 */
export interface PackedIndex extends SavedHeader {
  readonly words: readonly (readonly [word: string, postings: string])[]
}

export function pack({ index, ...plain }: AsPlainObject): PackedIndex {
  const toPlaces = (fields: (typeof index)[number][1]): string =>
    Object.entries(fields)
      .map(([field, postings]) => [field, ...Object.entries(postings).flat()].join(' '))
      .join(';')
  return { ...plain, words: index.map(([word, fields]) => [word, toPlaces(fields)]) }
}

export class SavedIndex<T> extends MiniSearch<T> {
  constructor(options: Options<T>, saved: PackedIndex) {
    super(options)
    this._documentCount = saved.documentCount
    this._nextId = saved.nextId
    this._fieldIds = saved.fieldIds
    this._avgFieldLength = saved.averageFieldLength
    this._dirtCount = saved.dirtCount ?? 0
    this._documentIds = toMap(saved.documentIds)
    this._fieldLength = toMap(saved.fieldLength)
    this._storedFields = toMap(saved.storedFields)
    for (const [short, id] of this._documentIds) this._idToShortId.set(id, short)
    for (const [word, postings] of saved.words) this._index.set(word, new LazyPostings(postings))
  }
}

/** Maps field to article to frequency. MiniSearch always calls `get` or iterates before anything else. */
class LazyPostings extends Map<number, Map<number, number>> {
  #packed: string | undefined
  constructor(packed: string) {
    super()
    this.#packed = packed
  }
  #unpack(): void {
    const fields = this.#packed?.split(';') ?? []
    this.#packed = undefined
    for (const [field = 0, ...pairs] of fields.map((text) => text.split(' ').map(Number))) {
      const postings = new Map<number, number>()
      for (let at = 0; at < pairs.length; at += 2) postings.set(pairs[at] ?? 0, pairs[at + 1] ?? 0)
      this.set(field, postings)
    }
  }
  override get(field: number): Map<number, number> | undefined {
    if (this.#packed !== undefined) this.#unpack()
    return super.get(field)
  }
  override [Symbol.iterator](): MapIterator<[number, Map<number, number>]> {
    if (this.#packed !== undefined) this.#unpack()
    return super[Symbol.iterator]()
  }
}

const toMap = <V>(object: { readonly [id: string]: V }): Map<number, V> =>
  new Map(Object.entries(object).map(([id, value]) => [Number(id), value]))
