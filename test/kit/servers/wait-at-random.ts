/** Work that waits in every way of JavaScript, so that calls interleave. */

/** A rendezvous: the call that fills it wakes all others, in its own turn. */
function createRendezvous(size: number): () => Promise<void> {
  let waiting: (() => void)[] = []
  const leave = (): void => {
    const all = waiting
    waiting = []
    for (const go of all) go()
  }
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) >= size) leave()
      else if (waiting.length === 1) setImmediate(leave)
    })
}

const waits: readonly (() => Promise<unknown>)[] = [
  () => Promise.resolve(),
  () => new Promise((resolve) => queueMicrotask(() => resolve(undefined))),
  () => new Promise((resolve) => process.nextTick(resolve)),
  () => new Promise(setImmediate),
  () => new Promise((resolve) => setTimeout(resolve, Math.random() * 3)),
  createRendezvous(8),
]

/** Up to three waits of different kinds. */
export async function waitAtRandom(): Promise<void> {
  for (let hop = Math.floor(Math.random() * 4); hop > 0; hop--)
    await waits[Math.floor(Math.random() * waits.length)]?.()
}
