/** Cross-process notifications. Delivery is a hint: a receiver that misses one reads the store. */

export interface Bus {
  publish(channel: string, message: string): Promise<void>
  /**
   * Calls `listener` for each message from now on, including this process's own. The returned function unsubscribes.
   */
  subscribe(channel: string, listener: (message: string) => void): () => void
}
