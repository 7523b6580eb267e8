/**
 * The users of the shop, in a separate process: one keep-alive connection each, on which the next request follows at
 * once. Every answer is checked. Without a session there is no DELETE, as in the published comparison.
 */
import { connect, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Failed, Load } from '../lib/http-load.ts'
import { isComplete } from '../lib/http-text.ts'
import type { Revision } from '../lib/messages.ts'
import { users } from './data.ts'
import { type Flow, journeyOf, type Step } from './journey.ts'

export interface FieldJob {
  readonly url: string
  readonly flow: Flow
  readonly revision: Revision
  readonly durationMs: number
}

/** Returns the text of a step for a session, or `undefined` if the step is only for sessions. */
function textOf(step: Step, { pathname, host }: URL): (session: string | undefined) => string | undefined {
  const headers = Object.entries({ host, ...step.headers }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `${step.method} ${pathname} HTTP/1.1\r\n${headers.join('')}`
  const length = `content-length: ${Buffer.byteLength(step.body)}\r\n\r\n${step.body}`
  return (session) => {
    if (session === undefined) return step.method === 'DELETE' ? undefined : head + length
    return `${head}mcp-session-id: ${session}\r\n${length}`
  }
}

async function load(job: FieldJob): Promise<Load> {
  const url = new URL(job.url)
  const latencies: number[] = []
  let wrong = 0
  let firstWrong = ''
  let running = true

  const user = (socket: Socket, index: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const steps = journeyOf(job.flow, index, job.revision).map((step) => ({ ...step, text: textOf(step, url) }))
      let at = -1
      let session: string | undefined
      let received = ''
      let sentAt = 0
      const send = (): void => {
        at = (at + 1) % steps.length
        const step = steps[at]
        if (step?.opens) session = undefined
        const text = step?.text(session)
        if (text === undefined) send()
        else {
          sentAt = performance.now()
          socket.write(text, 'latin1')
        }
      }
      socket.setNoDelay(true)
      socket.setEncoding('latin1')
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('close', () => {
        if (running) reject(new Error('the server closed a connection'))
        resolve()
      })
      socket.on('data', (chunk: string) => {
        received = received === '' ? chunk : received + chunk
        if (!isComplete(received)) return
        const step = steps[at]
        if (step?.counts) latencies.push(performance.now() - sentAt)
        if (step && !received.includes(step.expect)) {
          wrong++
          firstWrong ||= `${step.body.slice(0, 100)}: ${received.slice(0, 300)}`
        }
        if (step?.opens) session = /\r\nmcp-session-id: *([^\r]+)/i.exec(received)?.[1]
        received = ''
        if (running) send()
        else socket.destroy()
      })
    })

  const startedAt = performance.now()
  const idleBefore = performance.eventLoopUtilization()
  const sockets = Array.from({ length: users }, (_, index) => user(connect(Number(url.port), url.hostname), index))
  setTimeout(() => {
    running = false
  }, job.durationMs)
  await Promise.all(sockets)
  if (wrong > 0) throw new Error(`${wrong} answers were wrong, the first: ${firstWrong}`)
  const seconds = (performance.now() - startedAt) / 1_000
  latencies.sort((a, b) => a - b)
  return {
    perSecond: latencies.length / seconds,
    requests: latencies.length,
    wrong,
    p50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? 0,
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
    busy: performance.eventLoopUtilization(idleBefore).utilization,
  }
}

process.on('message', (job: FieldJob) => {
  load(job).then(
    (result) => process.send?.(result),
    (error: Error) => process.send?.({ failed: error.message } satisfies Failed),
  )
})
process.on('disconnect', () => process.exit())
