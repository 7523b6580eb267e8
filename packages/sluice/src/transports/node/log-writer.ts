/**
 * Writes log lines without waiting. A full disk or an unread pipe costs only lines. Otherwise one write would stop
 * every call, the health checks and the signals of the process.
 */

import { constants, openSync, writeSync } from 'node:fs'
import { addExitWork, removeExitWork } from './at-exit.ts'

/** Writes log lines without ever waiting for the reader. */
export interface LogWriter {
  /** Writes whole lines, each with its line break. */
  write(lines: string): void
  /** Writes the waiting lines now. */
  flush(): void
  /** Lines dropped since the start. */
  readonly lost: number
}

/** How many bytes may wait for a reader that does not keep up. More are dropped. */
const maxBufferedBytes = 1024 * 1024
const retryMs = 100

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/**
 * Opens a file to append to, readable by this account only, because a log names callers. A FIFO without a reader is
 * refused at once.
 */
export const openLog = (path: string): number => openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)

/**
 * Returns the descriptor of standard error. Reading `process.stderr` makes Node switch a pipe to non-blocking writes.
 */
export function openStderr(): number {
  Reflect.get(process, 'stderr')
  return 2
}

/** Creates a log writer. `write` is the system call, which throws `EAGAIN` if it would have to wait. */
export function createLogWriter(fd: number, write: typeof writeSync = writeSync): LogWriter {
  let waiting: Buffer[] = []
  let size = 0
  /** Lost lines that the log does not mention yet. */
  let lost = 0
  let reportedLost = 0
  /** Whether the first part of a line was written. Then its end must not be dropped. */
  let withinLine = false
  let timer: NodeJS.Timeout | undefined

  /** Returns the bytes of the lines, in `scratch` if they are written at once and fit. */
  function encode(lines: string): Buffer {
    return timer === undefined && lines.length <= scratchLength
      ? scratch.subarray(0, scratch.write(lines))
      : Buffer.from(lines)
  }
  function put(lines: string): void {
    const bytes = encode(lines)
    if (size + bytes.length > maxBufferedBytes) {
      lost += countLines(bytes)
      return
    }
    waiting.push(bytes)
    size += bytes.length
  }
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    removeExitWork(flush)
    while (waiting.length > 0 || lost > 0) {
      // Last, because then the descriptor accepts lines again.
      const isCount = waiting.length === 0
      const bytes = isCount ? toLostLinesEntry(lost) : join(waiting)
      try {
        const written = write(fd, bytes)
        withinLine = written > 0 && bytes[written - 1] !== newline
        waiting = written < bytes.length ? [copyOf(bytes, written)] : []
        size = bytes.length - written
        if (isCount) {
          reportedLost += lost
          lost = 0
        }
      } catch (thrown) {
        if (!isBusy(thrown)) {
          if (!isCount) drop(bytes)
          return
        }
        timer = setTimeout(flush, retryMs).unref()
        addExitWork(flush)
        if (!isCount) waiting = [copyOf(bytes)]
        return
      }
    }
  }
  /**
   * Drops lines after an error, such as a full disk or a closed pipe. A line that was begun is ended, so that the next
   * one is separate.
   */
  function drop(bytes: Buffer): void {
    const end = withinLine ? copyOf(bytes, 0, bytes.indexOf(newline) + 1) : empty
    lost += countLines(bytes) - (withinLine ? 1 : 0)
    waiting = end.length > 0 ? [end] : []
    size = end.length
  }
  return {
    write(lines) {
      put(lines)
      // While the descriptor is busy the timer tries again, because trying for each line would cost a system call each.
      if (timer === undefined) flush()
    },
    flush,
    get lost() {
      return reportedLost + lost
    },
  }
}

const toLostLinesEntry = (lines: number): Buffer =>
  Buffer.from(`{"time":${Date.now()},"level":"warn","event":"logLinesLost","lines":${lines}}\n`)

/**
 * Holds the bytes of lines until the system call returns. A new buffer for each write would take half of its time. Lines
 * that must wait are copied from it.
 */
const scratchLength = 32 * 1024
/** A character takes at most three bytes. */
const scratch: Buffer = Buffer.allocUnsafeSlow(3 * scratchLength)

const join = (parts: readonly Buffer[]): Buffer => (parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts))
const copyOf = (bytes: Buffer, from = 0, to?: number): Buffer => Buffer.from(bytes.subarray(from, to))

const empty: Buffer = Buffer.alloc(0)
const newline = 10

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++
  return count
}

const isBusy = (thrown: unknown): boolean => thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN'
