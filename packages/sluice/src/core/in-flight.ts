/**
 * What is in flight, by number: values that come and go with each call.
 *
 * A `Map` or a `Set` gets a new table every few such changes, and V8 links each table to the next one. A table that
 * became old then keeps all later ones, and the calls in them, until a full collection. Each small collection would copy
 * them.
 */
export class InFlight<T> {
  readonly #heads: (Entry<T> | undefined)[] = Array(buckets).fill(undefined)
  #last = 0
  /** How many there are. Only this class changes it. */
  size = 0
  /** Adds a value under a number that no other value has, by default the next one. Returns the number. */
  add(value: T, id: number = ++this.#last): number {
    const at = id % buckets
    this.#heads[at] = { id, value, next: this.#heads[at] }
    this.size++
    return id
  }
  get(id: number): T | undefined {
    let entry = this.#heads[id % buckets]
    while (entry && entry.id !== id) entry = entry.next
    return entry?.value
  }
  delete(id: number): void {
    const at = id % buckets
    let before: Entry<T> | undefined
    let entry = this.#heads[at]
    while (entry && entry.id !== id) {
      before = entry
      entry = entry.next
    }
    if (!entry) return
    if (before) before.next = entry.next
    else this.#heads[at] = entry.next
    // An old entry would keep the ones after it.
    entry.next = undefined
    this.size--
  }
  /** The values as they are when the list begins, in any order. */
  [Symbol.iterator](): IterableIterator<T> {
    const all: T[] = []
    for (let entry of this.#heads) for (; entry; entry = entry.next) all.push(entry.value)
    return all.values()
  }
}

const buckets = 64

interface Entry<T> {
  readonly id: number
  readonly value: T
  next: Entry<T> | undefined
}
