/**
 * Where log lines go. A write never waits: a disk that is full, or a pipe that nobody reads, costs lines and nothing else.
 * Otherwise one write would stop every call, the health checks and the signals of the process.
 */

import { constants, openSync, writeSync } from 'node:fs'

/** Writes log lines without ever waiting for the reader. */
export interface LogWriter {
  /** Takes whole lines, each with its end. */
  write(lines: string): void
  /** Tries again now what could not be written before. */
  flush(): void
  /** Lines dropped since the start. */
  readonly lost: number
}

/** What waits for a reader that does not keep up. More is dropped. */
const maxBufferedBytes = 1024 * 1024
const retryMs = 100

const { O_APPEND, O_CREAT, O_NONBLOCK, O_WRONLY } = constants

/** Opens a file to add to, for this account alone: a log names callers. A FIFO without a reader is refused at once. */
export const openLog = (path: string): number => openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600)

/** Returns standard error, a pipe as one that does not wait: Node makes it so when it first makes its own stream of it. */
export function openStderr(): number {
  Reflect.get(process, 'stderr')
  return 2
}

/** `write` is the system's; it throws `EAGAIN` where it would have to wait. */
export function createLogWriter(fd: number, write: typeof writeSync = writeSync): LogWriter {
  let waiting: Buffer[] = []
  let size = 0
  /** Not yet told in the log itself. */
  let lost = 0
  let lostBefore = 0
  /** The descriptor holds the first part of a line, whose end must not be dropped. */
  let withinLine = false
  let timer: NodeJS.Timeout | undefined

  function put(lines: string): void {
    const bytes = Buffer.from(lines)
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
    while (waiting.length > 0 || lost > 0) {
      // Once everything else is written: then the descriptor takes lines again.
      const isCount = waiting.length === 0
      const bytes = isCount ? toLostLinesEntry(lost) : Buffer.concat(waiting)
      try {
        const written = write(fd, bytes)
        withinLine = written > 0 && bytes[written - 1] !== newline
        waiting = written < bytes.length ? [bytes.subarray(written)] : []
        size = bytes.length - written
        if (isCount) {
          lostBefore += lost
          lost = 0
        }
      } catch (thrown) {
        if (isBusy(thrown)) timer = setTimeout(flush, retryMs).unref()
        else if (!isCount) drop(bytes)
        return
      }
    }
  }
  /** A full disk, or a reader that closed its end. What was begun is ended, so that the next line stands alone. */
  function drop(bytes: Buffer): void {
    const end = withinLine ? bytes.subarray(0, bytes.indexOf(newline) + 1) : empty
    lost += countLines(bytes) - (withinLine ? 1 : 0)
    waiting = end.length > 0 ? [end] : []
    size = end.length
  }
  return {
    write(lines) {
      put(lines)
      // While the descriptor is busy the timer tries again: trying for each line would cost a system call each.
      if (timer === undefined) flush()
    },
    flush,
    get lost() {
      return lostBefore + lost
    },
  }
}

const toLostLinesEntry = (lines: number): Buffer =>
  Buffer.from(`{"time":${Date.now()},"level":"warn","event":"logLinesLost","lines":${lines}}\n`)

const empty: Buffer = Buffer.alloc(0)
const newline = 10

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++
  return count
}

const isBusy = (thrown: unknown): boolean => thrown instanceof Error && 'code' in thrown && thrown.code === 'EAGAIN'
