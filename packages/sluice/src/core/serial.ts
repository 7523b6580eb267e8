/** Runs steps one after the other. A failed step rejects its own promise; the next step still runs. */
export function createSerial(): <T>(step: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (step) => {
    const done = last.then(step)
    last = done.catch(() => {})
    return done
  }
}
