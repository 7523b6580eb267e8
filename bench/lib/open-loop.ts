/**
 * An open-loop load: a fixed number of requests per second, independent of the answers, as a crowd of clients sends
 * them.
 *
 * Each request is timed from the moment it was due, so that a server or a sender that falls behind does not look
 * faster.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { isComplete, type Post, requestText } from './http-text.ts'

export interface OpenJob extends Post {
  /** A text that every valid answer contains. */
  readonly expect: string
  readonly perSecond: number
  readonly durationMs: number
}

export interface Latencies {
  readonly count: number
  readonly p50Ms: number
  readonly p99Ms: number
}
export interface OpenLoad {
  readonly sent: number
  /** Answers per second that arrived during the sending. */
  readonly goodput: number
  readonly accepted: Latencies
  /** Answered with 503 or 429. */
  readonly shed: Latencies
  /** Everything else, including broken connections. */
  readonly wrong: number
}

/** Connections opened before the first request; more are opened if needed. */
const connections = 100

interface Connection {
  readonly socket: Socket
  dueAt: number
  received: string
}

async function load(job: OpenJob): Promise<OpenLoad> {
  const { hostname, port } = new URL(job.url)
  const request = Buffer.from(requestText(job))
  const [accepted, shed]: [number[], number[]] = [[], []]
  const idle: Connection[] = []
  let [sent, under, wrong, inTime] = [0, 0, 0, 0]
  let running = true

  function receive(line: Connection, text: string): void {
    line.received += text
    if (!isComplete(line.received)) return
    const tookMs = performance.now() - line.dueAt
    const status = Number(line.received.slice(9, 12))
    if (status === 200 && line.received.includes(job.expect)) {
      accepted.push(tookMs)
      if (running) inTime++
    } else if (status === 503 || status === 429) shed.push(tookMs)
    else wrong++
    under--
    line.received = ''
    idle.push(line)
  }
  function open(): Connection {
    const socket = connect(Number(port), hostname)
    const line: Connection = { socket, dueAt: 0, received: '' }
    socket.setNoDelay(true)
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => receive(line, text))
    socket.on('error', () => {
      wrong++
      under--
    })
    return line
  }
  // Clients keep their connections, and opening all of them at once is another scenario.
  const ready = Array.from({ length: connections }, open)
  await Promise.all(ready.map(({ socket }) => once(socket, 'connect')))
  idle.push(...ready)
  const begin = performance.now()
  await new Promise<void>((resolve) => {
    const step = (): void => {
      const now = performance.now() - begin
      if (now >= job.durationMs) {
        resolve()
        return
      }
      while ((sent * 1_000) / job.perSecond <= now) {
        const line = idle.pop() ?? open()
        line.dueAt = begin + (sent * 1_000) / job.perSecond
        line.socket.write(request)
        sent++
        under++
      }
      // Not immediately: the server needs the core more than this load needs to be punctual.
      setTimeout(step, 1)
    }
    step()
  })
  running = false
  const seconds = (performance.now() - begin) / 1_000
  // Requests in flight may finish; those that never do count as wrong.
  for (let tries = 0; under > 0 && tries < 500; tries++) await new Promise((resolve) => setTimeout(resolve, 10))
  for (const { socket } of idle) socket.destroy()
  return {
    sent,
    goodput: inTime / seconds,
    accepted: toLatencies(accepted),
    shed: toLatencies(shed),
    wrong: wrong + under,
  }
}

function toLatencies(times: number[]): Latencies {
  times.sort((a, b) => a - b)
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? 0
  return { count: times.length, p50Ms: at(0.5), p99Ms: at(0.99) }
}

process.on('message', (job: OpenJob) => {
  load(job).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failed: error.message }),
  )
})
process.on('disconnect', () => process.exit())
