/**
 * A stdio server and the load on it: a bounded window of messages in flight, refilled as answers arrive.
 *
 * Ids never repeat, because a server may refuse a second request under an id that is in flight. Answers are counted
 * twice, by line and by text; a round in which the two differ is discarded.
 */
import { spawn } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { logs } from './child.ts'
import { callMessage, echoText, openingMessages, type Revision } from './messages.ts'
import { cpuUsOf } from './process-cpu.ts'

export interface Round {
  readonly perSecond: number
  /** The share of the time in which this process was busy: at 1 the load, not the server, is the limit. */
  readonly busy: number
  /** CPU time of the server per message, in all its threads. `undefined` on systems without `/proc`. */
  readonly cpuUs: number | undefined
}

export interface Pipe {
  drive(durationMs: number): Promise<Round>
  close(): void
}

const silentAfterMs = 20_000

function count(text: string, part: string): number {
  let found = 0
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) found++
  return found
}

export async function openPipe(
  script: URL,
  revision: Revision,
  window: number,
  args: readonly string[] = [],
): Promise<Pipe> {
  const child = spawn(process.execPath, [fileURLToPath(script), ...args], { stdio: ['pipe', 'pipe', logs] })
  // The wait below notices a server that has ended; the broken pipe adds nothing.
  child.stdin.on('error', () => {})
  child.stdout.setEncoding('latin1')

  let onText: (text: string) => void = () => {}
  child.stdout.on('data', (text: string) => onText(text))
  const settled = <Value>(start: (resolve: (value: Value) => void) => void) =>
    new Promise<Value>((resolve, reject) => {
      if (child.exitCode !== null) return reject(new Error(`ended with ${child.exitCode}`))
      const onExit = (code: number | null) => reject(new Error(`ended with ${code}; BENCH_LOGS=1 shows what it wrote`))
      const timer = setTimeout(() => reject(new Error('is silent')), silentAfterMs)
      child.once('exit', onExit)
      start((value) => {
        clearTimeout(timer)
        child.off('exit', onExit)
        resolve(value)
      })
    })

  // The message is split around its id, so that the load does not have to print JSON.
  const [head = '', tail = ''] = `${callMessage(revision, -1)}\n`.split('-1', 2)
  let id = 0
  const messages = (amount: number): string => {
    let text = ''
    for (let i = 0; i < amount; i++) text += head + ++id + tail
    return text
  }

  const opening = openingMessages(revision)
  if (opening.length > 0) {
    await settled<void>((resolve) => {
      onText = () => resolve()
      child.stdin.write(opening.map((message) => `${message}\n`).join(''))
    })
  }

  const drive = (durationMs: number) =>
    settled<Round | Error>((resolve) => {
      let lines = 0
      let right = 0
      let sent = window
      const busyBefore = performance.eventLoopUtilization()
      const startedAt = performance.now()
      const cpuBefore = cpuUsOf(child.pid)
      let carried = ''
      onText = (chunk) => {
        const text = carried + chunk
        const end = text.lastIndexOf('\n') + 1
        carried = text.slice(end)
        const answers = text.slice(0, end)
        const arrived = count(answers, '\n')
        lines += arrived
        right += count(answers, echoText)
        const elapsed = performance.now() - startedAt
        if (elapsed < durationMs) {
          sent += arrived
          child.stdin.write(messages(arrived), 'latin1')
        } else if (lines === sent) {
          const busy = performance.eventLoopUtilization(busyBefore).utilization
          const used = cpuUsOf(child.pid)
          const cpuUs = used !== undefined && cpuBefore !== undefined ? (used - cpuBefore) / lines : undefined
          resolve(
            right === lines ? { perSecond: lines / (elapsed / 1_000), busy, cpuUs } : new Error(`wrong: ${answers}`),
          )
        }
      }
      child.stdin.write(messages(window), 'latin1')
    })

  return {
    drive: async (durationMs) => {
      const round = await drive(durationMs)
      if (round instanceof Error) throw round
      return round
    },
    close: () => {
      child.stdin.end()
      child.kill()
    },
  }
}
