/**
 * Serves one message as text, for programs with their own transport: the framing with its limits, and the server's
 * answer.
 */

import type { Via } from '../core/call.ts'
import { frame } from '../core/frame.ts'
import type { Server } from '../protocol/server.ts'
import { toTransportServer } from '../protocol/server.ts'
import { rejectText } from './reject-text.ts'

/** Options for serving a text. */
export interface HandleTextOptions {
  /** How the message arrived. By default in-process, which has exactly one user. */
  readonly via?: Via
  /** Changes a message before it is served, for clients that follow another convention. Must not throw. */
  adapt?(message: unknown): unknown
}

const inProcess: Via = { transport: 'memory', peer: 'memory', header: () => undefined }

/** Returns the text of the answer, or `null` for a message that must not be answered. Never rejects. */
export async function handleText(
  server: Server,
  text: string,
  { via = inProcess, adapt = (message) => message }: HandleTextOptions = {},
): Promise<string | null> {
  const transportServer = toTransportServer(server)
  let message: unknown
  try {
    message = frame(text)
  } catch (thrown) {
    return rejectText(transportServer, via, thrown)
  }
  return transportServer.handleText(adapt(message), { via })
}
