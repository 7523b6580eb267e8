/** A load of clients before 2026-07-28: a session on each socket, one call in flight in each, every answer checked. */
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { isComplete, requestText } from './http-text.ts'
import { callMessage, echoText, httpHeaders, openingMessages } from './messages.ts'

const revision = '2025-11-25'

interface SessionLoad {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface SessionClients {
  drive(durationMs: number): Promise<SessionLoad>
}

/** Opens sessions. Rejects if the server is not there or refuses. */
export async function openSessions(url: string, count: number): Promise<SessionClients> {
  const { hostname, port } = new URL(url)
  const openSocket = (): Socket => connect(Number(port), hostname).setNoDelay(true).setEncoding('latin1')
  const requests = await Promise.all(
    Array.from({ length: count }, async () => {
      const socket = openSocket()
      const headers = httpHeaders('tools/call', revision)
      const [initialize = '', initialized = ''] = openingMessages(revision)
      const opened = await exchange(socket, requestText({ url, headers, body: initialize }))
      const session = /\r\nmcp-session-id: *(\S+)/i.exec(opened)?.[1]
      const all = { ...headers, ...(session !== undefined && { 'mcp-session-id': session }) }
      await exchange(socket, requestText({ url, headers: all, body: initialized }))
      socket.destroy()
      return requestText({ url, headers: all, body: callMessage(revision) })
    }),
  )
  return {
    async drive(durationMs) {
      const startedAt = performance.now()
      const until = startedAt + durationMs
      const latencies: number[] = []
      await Promise.all(
        requests.map(async (request) => {
          // A server closes sockets that are idle while others are measured.
          const socket = openSocket()
          while (performance.now() < until) {
            const sentAt = performance.now()
            const answer = await exchange(socket, request)
            if (!answer.startsWith('HTTP/1.1 200') || !answer.includes(echoText)) throw new Error(answer.slice(0, 300))
            latencies.push(performance.now() - sentAt)
          }
          socket.destroy()
        }),
      )
      const seconds = (performance.now() - startedAt) / 1_000
      latencies.sort((a, b) => a - b)
      const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0
      return { perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) }
    },
  }
}

/** Sends a request and returns the whole answer. */
const exchange = (socket: Socket, request: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let received = ''
    const onData = (chunk: string): void => {
      received += chunk
      if (!isComplete(received)) return
      settle()
      resolve(received)
    }
    const settle = (): void => {
      socket.off('data', onData)
      socket.off('close', onClose)
      socket.off('error', onClose)
    }
    const onClose = (): void => {
      settle()
      reject(new Error('the connection was closed'))
    }
    socket.on('data', onData)
    socket.on('close', onClose)
    socket.on('error', onClose)
    socket.write(request)
  })
