/** The transport between the client and a server. */

import type { Message } from './message.ts'

export interface ClientTransport {
  /** Sends a message and resolves with the response to a request. `onMessage` receives all other messages meanwhile. */
  exchange(message: Message, onMessage: (message: Message) => void, signal?: AbortSignal): Promise<Message | undefined>
  /** Sets the revision for all further messages. */
  setRevision(revision: string): void
  close(): Promise<void>
}
