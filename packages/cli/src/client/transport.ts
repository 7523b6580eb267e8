/** What carries messages to a server and back. */

import type { Message } from './message.ts'

export interface ClientTransport {
  /** Sends it; for a request, its response. `hear` gets whatever else the server says meanwhile. */
  exchange(message: Message, onMessage: (message: Message) => void, signal?: AbortSignal): Promise<Message | undefined>
  /** Which revision both speak from now on. */
  setRevision(revision: string): void
  close(): Promise<void>
}
