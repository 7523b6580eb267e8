/**
 * Reads a stream at a bounded rate. A process that writes without pause waits for itself; otherwise reading it would
 * take the event loop from every other caller.
 */

import type { Readable } from 'node:stream'
import type { Clock } from '../../core/clock.ts'
import { monotonicNow } from '../../core/clock.ts'

const windowMs = 1000

/**
 * Pauses the stream after `bytesPerSecond` until the second has passed. The returned function charges more bytes, because
 * many short lines cost more than their bytes.
 */
export function pace(stream: Readable, bytesPerSecond: number, clock: Clock): (bytes: number) => void {
  let begin = monotonicNow(clock)
  let read = 0
  let cancelTimer = (): void => {}
  stream.on('data', (chunk: Buffer | string) => {
    read += chunk.length
    if (read <= bytesPerSecond) return
    const now = monotonicNow(clock)
    const leftMs = begin + windowMs - now
    begin = now
    read = 0
    if (leftMs <= 0) return
    stream.pause()
    cancelTimer = clock.after(leftMs, () => {
      begin = monotonicNow(clock)
      stream.resume()
    })
  })
  stream.once('close', () => cancelTimer())
  return (bytes) => {
    read += bytes
  }
}
