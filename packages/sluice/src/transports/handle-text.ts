/** One message as text, for programs that bring a transport of their own: the framing and its limits, and the server's answer. */

import type { Via } from '../core/call.ts'
import { frame, UnsafeMessage } from '../core/frame.ts'
import { isOneWay } from '../protocol/classify.ts'
import type { Server } from '../protocol/server.ts'
import { toTransportServer } from '../protocol/server.ts'

/** How a text is served. */
export interface HandleTextOptions {
  /** Where it came from. In-process by default, which has exactly one user. */
  readonly via?: Via
  /** Changes a message before it is served, for clients that follow another convention. Must not throw. */
  adapt?(message: unknown): unknown
}

const inProcess: Via = { transport: 'memory', peer: 'memory', header: () => undefined }

/** Returns the text of the answer, or `null` for what must not be answered. Never rejects. */
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
    const value = thrown instanceof UnsafeMessage ? thrown.value : undefined
    const refusal = transportServer.reject(thrown, via, value)
    return isOneWay(value) ? null : refusal
  }
  return transportServer.handleText(adapt(message), { via })
}
