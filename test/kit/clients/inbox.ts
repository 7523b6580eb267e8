/** Collects received items in order and waits for later ones, so that no test has to sleep. */

export class Inbox<T> {
  readonly all: T[] = []
  readonly #waiting = new Set<(item: T) => void>()

  push(item: T): void {
    this.all.push(item)
    for (const waiter of [...this.#waiting]) waiter(item)
  }
  /** Returns the first item that matches, received or still to come. */
  next(fits: (item: T) => boolean): Promise<T> {
    for (const item of this.all) if (fits(item)) return Promise.resolve(item)
    return this.nextNew(fits)
  }
  /** Returns the next new item that matches. */
  nextNew(fits: (item: T) => boolean): Promise<T> {
    return new Promise((resolve) => {
      const waiter = (item: T): void => {
        if (!fits(item)) return
        this.#waiting.delete(waiter)
        resolve(item)
      }
      this.#waiting.add(waiter)
    })
  }
  clear(): void {
    this.all.length = 0
  }
}
