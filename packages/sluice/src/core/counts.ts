/** Counts by key. A key whose count is 0 takes no memory. */
export class Counts<K> {
  readonly #counts: Map<K, number> = new Map()
  get(key: K): number {
    return this.#counts.get(key) ?? 0
  }
  add(key: K, by: number): void {
    const count = this.get(key) + by
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }
}
