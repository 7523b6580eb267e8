/** Any transport of the official SDK as one of ours: its in-memory pair, or any other transport written for it. */

import { receiveValue } from './channel.ts'
import { ClientError } from './errors.ts'
import type { Transport } from './transport.ts'

/** A transport of the official SDK, v1 or v2. */
export interface SdkTransport {
  onmessage?: ((message: never) => void) | undefined
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  start(): Promise<void>
  send(message: never): Promise<void>
  close(): Promise<void>
}

/** Returns a transport over one of the official SDK's. It can be opened once, as theirs. */
export function fromSdkTransport(transport: SdkTransport, name = 'sdk'): Transport {
  return {
    server: name,
    mirrorsHeaders: false,
    open(receiver) {
      transport.onmessage = (value: unknown) => receiveValue(value, receiver)
      transport.onclose = () => receiver.closed(new ClientError('closed', 'The transport was closed'))
      transport.onerror = (error) => receiver.ignored(error.message)
      return transport.start()
    },
    send: (message) => transport.send(message as never),
    agreed() {},
    close: () => transport.close(),
  }
}
