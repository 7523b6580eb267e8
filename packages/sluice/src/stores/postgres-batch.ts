/**
 * Calls that come together become one statement and one transaction. The first is sent at once; those that come while a
 * statement is in flight wait for its answer and are sent together. So a single call waits for nothing, and many share the
 * round trip and the commit.
 */

export interface BatchOptions<Item, Result> {
  /** Results are in the order of the items. If it rejects, so does every item's promise. */
  send(items: readonly Item[]): Promise<readonly Result[]>
  readonly inFlight: number
  /** What an item adds to a statement, in characters. */
  sizeOf(item: Item): number
  /** Called when nothing is in flight and nothing waits. */
  idle?(): unknown
}

interface Waiting<Item, Result> {
  readonly item: Item
  resolve(result: Result): void
  reject(thrown: unknown): void
}

/** A statement holds no more than this, so that none is slow. At least one item is sent, whatever its size. */
const maxItems = 100
const maxSize = 1024 * 1024

export function createBatcher<Item, Result>(options: BatchOptions<Item, Result>): (item: Item) => Promise<Result> {
  const { send, inFlight, sizeOf, idle } = options
  const waiting: Waiting<Item, Result>[] = []
  let sent = 0
  function nextBatch(): readonly Waiting<Item, Result>[] {
    let [count, size] = [0, 0]
    for (const { item } of waiting) {
      size += sizeOf(item)
      if (count === maxItems || (count > 0 && size > maxSize)) break
      count++
    }
    return waiting.splice(0, count)
  }
  async function flush(): Promise<void> {
    sent++
    const batch = nextBatch()
    try {
      const results = await send(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const result = results[index]
        if (result === undefined) reject(new Error('A statement returned fewer rows than it was given'))
        else resolve(result)
      }
    } catch (thrown) {
      for (const { reject } of batch) reject(thrown)
    }
    sent--
    if (waiting.length > 0) flush().catch(() => {})
    else if (sent === 0) idle?.()
  }
  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (sent < inFlight) flush().catch(reject)
    })
}
