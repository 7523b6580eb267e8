/** Runs steps one after the other. A step that fails rejects its own promise and does not keep the next from running. */
export function createSerial(): <T>(step: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (step) => {
    const done = last.then(step)
    last = done.catch(() => {})
    return done
  }
}
