/** Shared by the channels: one text in, one message out, and an end that is reported once. */

import { ClientError } from './errors.ts'
import type { Message } from './message.ts'
import { mayBeMessage, parseMessage, toMessage } from './message.ts'
import type { Receiver } from './transport.ts'

/** Hands the text of one frame on. Text that is not a message is ignored: some servers print to stdout. */
export function receiveText(text: string, receiver: Receiver): void {
  if (mayBeMessage(text)) receive(parseMessage, text, receiver)
  else receiver.ignored('The server sent text that is not a message', text)
}

/** Hands a value on that is a message already. Others are ignored. */
export const receiveValue = (value: unknown, receiver: Receiver): void => receive(toMessage, value, receiver)

function receive<T>(read: (from: T) => Message, from: T, receiver: Receiver): void {
  let message: Message
  try {
    message = read(from)
  } catch (thrown) {
    const problem = thrown instanceof ClientError ? thrown.message : 'The server sent a frame that cannot be read'
    receiver.ignored(problem, typeof from === 'string' ? from : undefined)
    return
  }
  receiver.message(message)
}

export const notOpen = (): ClientError =>
  new ClientError('closed', 'The connection to the server is not open', { mayHaveRun: false })
