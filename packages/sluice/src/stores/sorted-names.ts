/**
 * Names in order, in chunks. A new name moves only the names of its chunk; in one array it would move all after it.
 * Neighbours that have become small are joined, so that the number of chunks follows the number of names.
 */

export interface SortedNames {
  add(name: string): void
  delete(name: string): void
  /** Yields the names after this one, in order. They must not change meanwhile. */
  after(name: string): Iterable<string>
}

/** Few enough that moving them costs less than finding the chunk. */
const maxChunk = 512

export function createSortedNames(isAfter: (a: string, b: string) => boolean): SortedNames {
  const chunks: string[][] = []
  /** Returns the first index whose name is after `name`. */
  function indexAfter(length: number, nameAt: (index: number) => string | undefined, name: string): number {
    let [low, high] = [0, length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (isAfter(nameAt(middle) ?? '', name)) high = middle
      else low = middle + 1
    }
    return low
  }
  const chunkOf = (name: string): number => Math.max(0, indexAfter(chunks.length, (i) => chunks[i]?.[0], name) - 1)
  const placeIn = (chunk: readonly string[], name: string): number => indexAfter(chunk.length, (i) => chunk[i], name)
  function joinWithNext(index: number): void {
    const [chunk, next] = [chunks[index], chunks[index + 1]]
    if (!chunk || !next || chunk.length + next.length > maxChunk / 2) return
    chunk.push(...next)
    chunks.splice(index + 1, 1)
  }
  return {
    add(name) {
      const index = chunkOf(name)
      const chunk = chunks[index]
      if (!chunk) {
        chunks.push([name])
        return
      }
      chunk.splice(placeIn(chunk, name), 0, name)
      if (chunk.length > maxChunk) chunks.splice(index + 1, 0, chunk.splice(maxChunk / 2))
    },
    delete(name) {
      const index = chunkOf(name)
      const chunk = chunks[index] ?? []
      const place = placeIn(chunk, name) - 1
      if (chunk[place] !== name) return
      chunk.splice(place, 1)
      if (chunk.length === 0) chunks.splice(index, 1)
      else joinWithNext(index)
      joinWithNext(index - 1)
    },
    *after(name) {
      const first = chunkOf(name)
      for (let index = first; index < chunks.length; index++) {
        const chunk = chunks[index] ?? []
        for (let place = index === first ? placeIn(chunk, name) : 0; place < chunk.length; place++)
          yield chunk[place] ?? ''
      }
    },
  }
}
