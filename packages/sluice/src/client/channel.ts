/** Shared by the channels: one text in, one message out, and an end that is reported once. */

import { ClientError } from './errors.ts'
import type { Message } from './message.ts'
import { parseMessage } from './message.ts'
import type { Receiver } from './transport.ts'

/** Hands the text of one frame on. Text that is not a message is ignored: some servers print to stdout. */
export function receiveText(text: string, receiver: Receiver): void {
  let message: Message
  try {
    message = parseMessage(text)
  } catch (thrown) {
    receiver.ignored(
      thrown instanceof ClientError ? thrown.message : 'The server sent a frame that cannot be read',
      text,
    )
    return
  }
  receiver.message(message)
}

/** The error of a request on a channel that is not open. */
export const notOpen = (): ClientError =>
  new ClientError('closed', 'The connection to the server is not open', { mayHaveRun: false })
