/**
 * A WebSocket transport for the official clients, v1 and v2, on any runtime with a global `WebSocket`:
 * `await client.connect(webSocketTransport('wss://mcp.example.com/ws', { token }))`.
 */

import { subprotocol, tokenPrefix } from './accept-upgrade.ts'

export interface WebSocketTransportOptions {
  /**
   * The token, with letters, digits and `-._~+` only. It is sent as a subprotocol, because a browser page cannot set
   * headers.
   */
  readonly token?: string
}

/** The transport interface of the official clients. */
export interface WebSocketTransport {
  onmessage?: <Message>(message: Message) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  start(): Promise<void>
  send(message: object): Promise<void>
  close(): Promise<void>
}

/** Used when the runtime gives no details. */
const failedMessage = 'The WebSocket could not be opened, or was interrupted'

/** Creates a WebSocket transport for the official client: `client.connect(webSocketTransport(url))`. */
export function webSocketTransport(url: string | URL, { token }: WebSocketTransportOptions = {}): WebSocketTransport {
  let socket: WebSocket | undefined
  const transport: WebSocketTransport = {
    start() {
      if (socket) return Promise.reject(new Error('Already started: a transport is for one connection'))
      const opened = new WebSocket(url, token === undefined ? [subprotocol] : [subprotocol, tokenPrefix + token])
      socket = opened
      return new Promise((resolve, reject) => {
        opened.addEventListener('open', () => resolve())
        opened.addEventListener('error', () => {
          reject(new Error(failedMessage))
          transport.onerror?.(new Error(failedMessage))
        })
        opened.addEventListener('close', ({ code, reason }) => {
          reject(new Error(`The WebSocket was closed: ${code} ${reason}`))
          transport.onclose?.()
        })
        opened.addEventListener('message', ({ data }) => receive(data))
      })
    },
    send(message) {
      if (socket?.readyState !== 1) return Promise.reject(new Error('The WebSocket is not open'))
      socket.send(JSON.stringify(message))
      return Promise.resolve()
    },
    close() {
      socket?.close(1000)
      return Promise.resolve()
    },
  }
  function receive(data: unknown): void {
    let message: unknown
    try {
      message = JSON.parse(String(data))
    } catch {
      transport.onerror?.(new Error('The server sent a message that is not JSON'))
      return
    }
    transport.onmessage?.(message)
  }
  return transport
}
