/** A WebSocket as a transport, wherever there is a global `WebSocket`: one message per text frame, subprotocol `mcp`. */

import { notOpen, receiveText } from './channel.ts'
import { ClientError } from './errors.ts'
import { defaultMaxMessageBytes } from './message.ts'
import type { Receiver, Transport } from './transport.ts'

/** Options of a WebSocket. */
export interface WebSocketClientOptions {
  /** Sent as a second subprotocol, because browsers let a page choose no header: letters, digits and `-._~+` only. */
  readonly token?: string
  /** The longest message that is read. A longer one closes the connection. */
  readonly maxMessageBytes?: number
}

/** More than this waits unsent only if the server does not read. */
const maxBufferedBytes = 16 * 1024 * 1024

/** Returns a transport over a WebSocket. */
export function webSocketTransport(url: string | URL, options: WebSocketClientOptions = {}): Transport {
  const { token, maxMessageBytes = defaultMaxMessageBytes } = options
  let socket: WebSocket | undefined
  function attach(opened: WebSocket, receiver: Receiver): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (message: string): void => {
        const error = new ClientError('closed', message)
        reject(new ClientError('unreachable', message, { mayHaveRun: false }))
        if (socket !== opened) return
        socket = undefined
        receiver.closed(error)
      }
      opened.addEventListener('open', () => resolve())
      opened.addEventListener('error', () => end('The WebSocket could not be opened, or broke off'))
      opened.addEventListener('close', ({ code }) => end(`The WebSocket was closed (${code})`))
      opened.addEventListener('message', ({ data }) => {
        if (socket !== opened) return
        if (typeof data !== 'string') receiver.ignored('The server sent a binary frame')
        else if (data.length > maxMessageBytes) {
          // A page may send no other code of the protocol, and 1009 would throw.
          opened.close(1000)
          end(`The server sent more than ${maxMessageBytes} bytes`)
        } else receiveText(data, receiver)
      })
    })
  }
  return {
    server: String(url),
    mirrorsHeaders: false,
    open(receiver) {
      const opened = new WebSocket(url, token === undefined ? ['mcp'] : ['mcp', `mcp.bearer.${token}`])
      socket = opened
      return attach(opened, receiver)
    },
    send(message) {
      if (socket?.readyState !== 1) return Promise.reject(notOpen())
      if (socket.bufferedAmount > maxBufferedBytes)
        return Promise.reject(new ClientError('overloaded', 'The server does not read', { mayHaveRun: false }))
      socket.send(JSON.stringify(message))
      return Promise.resolve()
    },
    agreed() {},
    close() {
      const ended = socket
      socket = undefined
      ended?.close(1000)
      return Promise.resolve()
    },
  }
}
