/** stdio without a process: the transport on two streams, and the client's end of them. */

import { PassThrough } from 'node:stream'
import type { Params, Server } from 'sluice'
import type { StdioListener, StdioOptions } from 'sluice/node'
import { serveStdio } from 'sluice/node'
import { request } from './valid-messages.ts'

export interface Pipe {
  /** Writes raw bytes. */
  write(bytes: string | Buffer): void
  /** Writes one message as a line. */
  send(message: Params | readonly unknown[]): void
  /** Returns the next line, parsed. */
  next(): Promise<Params>
  /** Returns all output once nothing is in flight any more. */
  settled(): Promise<readonly Params[]>
  end(): void
  readonly serving: StdioListener
  /** The client's end of the server's output. */
  readonly output: PassThrough
}

let barriers = 0

export function pipeTo(server: Server, options: Omit<StdioOptions, 'input' | 'output'> = {}): Pipe {
  const input = new PassThrough()
  const output = new PassThrough()
  const serving = serveStdio(server, { ...options, input, output })
  const lines: Params[] = []
  const waiting: ((line: Params) => void)[] = []
  let rest = ''
  output.setEncoding('utf8')
  output.on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      const line = JSON.parse(part) as Params
      const first = waiting.shift()
      if (first) first(line)
      else lines.push(line)
    }
  })
  const next = (): Promise<Params> => {
    const first = lines.shift()
    return first ? Promise.resolve(first) : new Promise((resolve) => waiting.push(resolve))
  }
  return {
    write: (bytes) => {
      input.write(bytes)
    },
    send: (message) => {
      input.write(`${JSON.stringify(message)}\n`)
    },
    next,
    async settled() {
      const id = `barrier ${++barriers}`
      input.write(`${JSON.stringify(request(id, 'tools/call', { name: 'barrier', arguments: {} }))}\n`)
      const received: Params[] = []
      for (;;) {
        const line = await next()
        if (line['id'] === id) return received
        received.push(line)
      }
    },
    end: () => {
      input.end()
    },
    serving,
    output,
  }
}
