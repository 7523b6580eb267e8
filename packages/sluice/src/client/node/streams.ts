/** A server on two byte streams: one message per line, in both directions. */

import type { Readable, Writable } from 'node:stream'
import { notOpen, receiveText } from '../channel.ts'
import { ClientError } from '../errors.ts'
import type { Message } from '../message.ts'
import { defaultMaxMessageBytes } from '../message.ts'
import type { Receiver, Transport } from '../transport.ts'

/** Options of a server on streams. */
export interface StreamsOptions {
  /** The longest line that is read. A longer one ends the connection. */
  readonly maxMessageBytes?: number
}

/** More than this waits unread only if the server does not read its input. */
const maxUnsentBytes = 16 * 1024 * 1024

/** One connection over a pair of streams. */
export interface Pipe {
  send(message: Message): Promise<void>
  /** Reports the end of the connection, once. */
  fail(error: ClientError): void
  readonly isOpen: boolean
  detach(): void
}

/** Begins to read. The server writes to `input` and reads from `output`. */
export function createPipe(input: Readable, output: Writable, receiver: Receiver, options: StreamsOptions = {}): Pipe {
  const { maxMessageBytes = defaultMaxMessageBytes } = options
  let isOpen = true
  let lines: string[] = []
  function detach(): void {
    isOpen = false
    input.off('data', read)
    input.off('end', ended)
  }
  function fail(error: ClientError): void {
    if (!isOpen) return
    detach()
    receiver.closed(error)
  }
  const readLines = createLineReader((text) => {
    if (isOpen) receiveText(text, receiver)
  }, maxMessageBytes)
  function read(chunk: Buffer): void {
    if (!readLines(chunk))
      fail(new ClientError('tooLarge', `The server sent a line of more than ${maxMessageBytes} bytes`))
  }
  const ended = (): void => fail(new ClientError('closed', 'The server closed its output'))
  input.on('data', read)
  input.on('end', ended)
  input.on('error', (cause) => fail(new ClientError('closed', 'The server cannot be read', { cause })))
  output.on('error', (cause) =>
    fail(new ClientError('closed', 'The server does not take messages any longer', { cause })),
  )

  /** Messages of one turn leave with one write: a system call costs more than the message. */
  function flush(): void {
    const text = lines.join('')
    lines = []
    if (isOpen) output.write(text)
  }
  return {
    get isOpen() {
      return isOpen
    },
    send(message) {
      if (!isOpen) return Promise.reject(notOpen())
      if (output.writableLength > maxUnsentBytes)
        return Promise.reject(
          new ClientError('overloaded', 'The server does not read its input', { mayHaveRun: false }),
        )
      if (lines.push(`${JSON.stringify(message)}\n`) === 1) process.nextTick(flush)
      return sent
    },
    fail,
    detach,
  }
}
const sent = Promise.resolve()

/** Returns a transport over streams that exist already: sockets, or the streams of a process that is someone else's. */
export function streamTransport(input: Readable, output: Writable, options: StreamsOptions = {}): Transport {
  let pipe: Pipe | undefined
  return {
    server: 'streams',
    mirrorsHeaders: false,
    open(receiver) {
      pipe = createPipe(input, output, receiver, options)
      return Promise.resolve()
    },
    send: (message) => pipe?.send(message) ?? Promise.reject(notOpen()),
    agreed() {},
    close() {
      pipe?.detach()
      output.end()
      return Promise.resolve()
    },
  }
}

/**
 * Turns bytes into lines, bounded: a server that never ends its line must not fill the memory. The returned function
 * takes bytes, and returns `false` if a line is too long.
 */
function createLineReader(line: (text: string) => void, maxBytes: number): (chunk: Buffer) => boolean {
  let held: Buffer[] = []
  let size = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      const part = chunk.subarray(start, end)
      start = end + 1
      if (size + part.length > maxBytes) return false
      const text = held.length === 0 ? part.toString('utf8') : Buffer.concat([...held, part]).toString('utf8')
      held = []
      size = 0
      if (text !== '' && text !== '\r') line(text)
    }
    if (start < chunk.length) {
      held.push(start === 0 ? chunk : chunk.subarray(start))
      size += chunk.length - start
    }
    return size <= maxBytes
  }
}
