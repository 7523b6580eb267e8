/**
 * Gathers what came in during one turn of the loop, and lets it go on together when the turn is over.
 *
 * Between two requests of one turn lie system calls: each finds the processor's caches full of the other, and each answer
 * wakes a client that has gone to sleep since the last. Served one after the other, then written one after the other, the
 * same requests take half the time; and one that came alone waits for nothing.
 */

export function createTurn(): (then: () => void) => void {
  let waiting: (() => void)[] = []
  const end = (): void => {
    const due = waiting
    waiting = []
    for (const then of due) then()
  }
  return function atEndOfTurn(then) {
    if (waiting.push(then) === 1) setImmediate(end)
  }
}
