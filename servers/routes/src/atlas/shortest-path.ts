/** A* over numbered nodes, with a binary heap: a continent of towns takes some ten milliseconds. */

export interface PathEdge {
  readonly to: number
  readonly cost: number
}

/**
 * Returns the edges from one of the starts to an end, or `undefined`. `estimate` is never more than the cost from a node
 * to an end; it keeps the search from looking the wrong way.
 */
export function shortestPath<E extends PathEdge>(
  starts: readonly E[],
  edgesOf: (node: number) => readonly E[],
  isEnd: (node: number) => boolean,
  estimate: (node: number) => number,
  nodes: number,
): readonly E[] | undefined {
  const costs = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY)
  const arrived: ({ readonly edge: E; readonly from: number } | undefined)[] = new Array(nodes)
  const isDone = new Uint8Array(nodes)
  const heap = createHeap()
  const reach = (edge: E, from: number, before: number): void => {
    const cost = before + edge.cost
    if (cost >= (costs[edge.to] ?? 0)) return
    costs[edge.to] = cost
    arrived[edge.to] = { edge, from }
    heap.push(edge.to, cost + estimate(edge.to))
  }
  for (const edge of starts) reach(edge, -1, 0)
  for (let node = heap.pop(); node !== undefined; node = heap.pop()) {
    if (isDone[node]) continue
    isDone[node] = 1
    if (isEnd(node)) return trace(arrived, node)
    for (const edge of edgesOf(node)) reach(edge, node, costs[node] ?? 0)
  }
  return undefined
}

function trace<E>(arrived: readonly ({ readonly edge: E; readonly from: number } | undefined)[], end: number): E[] {
  const path: E[] = []
  for (let step = arrived[end]; step; step = arrived[step.from]) {
    path.push(step.edge)
    if (step.from < 0) break
  }
  return path.reverse()
}

function createHeap(): { push(node: number, cost: number): void; pop(): number | undefined } {
  const items: { readonly node: number; readonly cost: number }[] = []
  const costAt = (at: number): number => items[at]?.cost ?? Number.POSITIVE_INFINITY
  const swap = (a: number, b: number): void => {
    const [first, second] = [items[a], items[b]]
    if (first && second) [items[a], items[b]] = [second, first]
  }
  return {
    push(node, cost) {
      items.push({ node, cost })
      for (let at = items.length - 1; at > 0 && costAt((at - 1) >> 1) > costAt(at); at = (at - 1) >> 1)
        swap(at, (at - 1) >> 1)
    },
    pop() {
      const top = items[0]
      const last = items.pop()
      if (top === undefined || last === undefined) return undefined
      if (items.length > 0) {
        items[0] = last
        for (let at = 0; ; ) {
          const child = costAt(2 * at + 1) <= costAt(2 * at + 2) ? 2 * at + 1 : 2 * at + 2
          if (costAt(child) >= costAt(at)) break
          swap(at, child)
          at = child
        }
      }
      return top.node
    },
  }
}
