/** Word between processes. It only wakes: who misses a message finds the truth in the store. */

export interface Bus {
  publish(channel: string, message: string): Promise<void>
  /** Calls `hear` for each message from now on, also for this process's own; the returned function ends it. */
  subscribe(channel: string, hear: (message: string) => void): () => void
}
