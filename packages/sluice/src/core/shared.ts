/** A thing that is made for its first user and closed with its last. */
export interface Shared<T> {
  /** `undefined` while it has no user. */
  readonly current: T | undefined
  join(make: () => T): { readonly joined: T; leave(): Promise<void> }
}

export function createShared<T extends { close(): Promise<void> }>(): Shared<T> {
  let current: T | undefined
  let users = 0
  return {
    get current() {
      return current
    },
    join(make) {
      current ??= make()
      const joined = current
      users++
      return {
        joined,
        async leave() {
          if (--users > 0) return
          current = undefined
          await joined.close()
        },
      }
    },
  }
}
