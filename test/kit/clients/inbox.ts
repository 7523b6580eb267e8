/** What came in, in order, and a way to wait for what has not come yet: no test here sleeps. */

export class Inbox<T> {
  readonly all: T[] = []
  readonly #waiting = new Set<(item: T) => void>()

  push(item: T): void {
    this.all.push(item)
    for (const look of [...this.#waiting]) look(item)
  }
  /** The first that fits, of those that came or the first to come. */
  next(fits: (item: T) => boolean): Promise<T> {
    for (const item of this.all) if (fits(item)) return Promise.resolve(item)
    return this.nextNew(fits)
  }
  /** The first to come that fits. */
  nextNew(fits: (item: T) => boolean): Promise<T> {
    return new Promise((resolve) => {
      const look = (item: T): void => {
        if (!fits(item)) return
        this.#waiting.delete(look)
        resolve(item)
      }
      this.#waiting.add(look)
    })
  }
  clear(): void {
    this.all.length = 0
  }
}
