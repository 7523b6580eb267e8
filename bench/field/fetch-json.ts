/**
 * Calls the shop's API for the tools, over kept connections. On Node these are raw sockets, because the clients of Node
 * cost as much as a whole call of a fast server, and would hide the servers that are measured. On Bun it is `fetch`,
 * which is cheap there. All contenders of a runtime have the same.
 */
import { connect, type Socket } from 'node:net'
import { isComplete } from '../lib/http-text.ts'

export type FetchJson = <Answer>(path: string, body?: object) => Promise<Answer>

export const createFetchJson = (url: string): FetchJson =>
  process.versions['bun'] === undefined ? onNode(new URL(url)) : onBun(url)

interface Connection {
  readonly socket: Socket
  received: string
  settle: (text: string | Error) => void
}

function onNode({ hostname, port, host }: URL): FetchJson {
  const idle: Connection[] = []

  function open(): Connection {
    const connection: Connection = { socket: connect(Number(port), hostname), received: '', settle: () => {} }
    const { socket } = connection
    socket.setNoDelay(true)
    // The API answers in ASCII.
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      connection.received += chunk
      if (!isComplete(connection.received)) return
      const { received, settle } = connection
      connection.received = ''
      idle.push(connection)
      settle(received)
    })
    socket.on('error', (error) => connection.settle(error))
    socket.on('close', () => {
      const index = idle.indexOf(connection)
      if (index >= 0) idle.splice(index, 1)
      connection.settle(new Error('the API closed the connection'))
    })
    return connection
  }

  return <Answer>(path: string, body?: object) =>
    new Promise<Answer>((resolve, reject) => {
      const connection = idle.pop() ?? open()
      connection.settle = (received) => {
        if (received instanceof Error) reject(received)
        else if (!received.startsWith('HTTP/1.1 200')) reject(new Error(`${path} answers ${received.slice(0, 40)}`))
        else resolve(JSON.parse(received.slice(received.indexOf('\r\n\r\n') + 4)) as Answer)
      }
      connection.socket.write(requestOf(host, path, body))
    })
}

function requestOf(host: string, path: string, body: object | undefined): string {
  if (body === undefined) return `GET ${path} HTTP/1.1\r\nhost: ${host}\r\n\r\n`
  const text = JSON.stringify(body)
  const type = 'content-type: application/json'
  return `POST ${path} HTTP/1.1\r\nhost: ${host}\r\n${type}\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}

const onBun =
  (url: string): FetchJson =>
  async <Answer>(path: string, body?: object) => {
    const response = await fetch(url + path, body && { method: 'POST', body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path} answers ${response.status}`)
    return (await response.json()) as Answer
  }
