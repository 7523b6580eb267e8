/**
 * The load on the HTTP contenders: a separate process with keep-alive sockets, one request in flight on each.
 *
 * It uses raw sockets, because a general client costs more CPU than the floor that it should measure. Every answer is
 * checked for its status and its text. The result contains the load's own busy share, so that a reader sees whether the
 * server or the load was the limit.
 */
import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { isComplete, type Post, requestText } from './http-text.ts'

export interface Job extends Post {
  readonly expect: string
  readonly connections: number
  readonly durationMs: number
  /** Sends a new idempotency key with each request. */
  readonly keyed?: boolean
}

export interface Failed {
  readonly failed: string
}

export interface Load {
  readonly perSecond: number
  readonly requests: number
  /** Answers with another status or text, and connections that the server closed during a request. */
  readonly wrong: number
  /** The first of them, to tell why. */
  readonly firstWrong?: string
  readonly p50Ms: number
  readonly p99Ms: number
  /** The share of the time in which this process was busy: at 1 the load, not the server, is the limit. */
  readonly busy: number
}

/** The header is inserted by hand, because building each request anew would cost more than sending it. */
function requestsOf(job: Job): () => Buffer | string {
  const text = requestText(job)
  const request = Buffer.from(text)
  if (!job.keyed) return () => request
  const at = text.indexOf('\r\n') + 2
  const [head, tail] = [text.slice(0, at), text.slice(at)]
  const prefix = randomUUID()
  let count = 0
  return () => `${head}idempotency-key: ${prefix}-${++count}\r\n${tail}`
}

async function load(job: Job): Promise<Load> {
  const { hostname, port } = new URL(job.url)
  const nextRequest = requestsOf(job)
  const latencies: number[] = []
  let wrong = 0
  let firstWrong = ''
  let running = true

  const drive = (socket: Socket): Promise<void> =>
    new Promise((resolve, reject) => {
      let received = ''
      let sentAt = 0
      const send = () => {
        sentAt = performance.now()
        socket.write(nextRequest())
      }
      socket.setNoDelay(true)
      socket.setEncoding('latin1')
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('close', () => {
        if (running) wrong++
        resolve()
      })
      socket.on('data', (chunk: string) => {
        received = received === '' ? chunk : received + chunk
        if (!isComplete(received)) return
        latencies.push(performance.now() - sentAt)
        if (!received.startsWith('HTTP/1.1 200') || !received.includes(job.expect)) {
          wrong++
          firstWrong ||= received.slice(0, 600)
        }
        received = ''
        if (running) send()
        else socket.destroy()
      })
    })

  const startedAt = performance.now()
  const idleBefore = performance.eventLoopUtilization()
  const sockets = Array.from({ length: job.connections }, () => drive(connect(Number(port), hostname)))
  setTimeout(() => {
    running = false
  }, job.durationMs)
  await Promise.all(sockets)
  const seconds = (performance.now() - startedAt) / 1_000
  latencies.sort((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    requests: latencies.length,
    wrong,
    firstWrong,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    busy: performance.eventLoopUtilization(idleBefore).utilization,
  }
}

process.on('message', (job: Job) => {
  load(job).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failed: error.message }),
  )
})
process.on('disconnect', () => process.exit())
