/** A client over stdio streams in this process. The official clients start a real process. */

import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { Server } from 'sluice'
import { serveStdio } from 'sluice/node'
import type { MessageChannel } from './channel.client.ts'
import { openOverChannel } from './channel.client.ts'
import { Inbox } from './inbox.ts'
import type { ProtocolClient, ProtocolClientOptions } from './protocol.ts'

export function openPipe(server: Server): MessageChannel {
  const input = new PassThrough()
  const output = new PassThrough()
  const lines = new Inbox<unknown>()
  createInterface(output).on('line', (line) => lines.push(JSON.parse(line)))
  // Otherwise subscriptions that a test left open would hold the pipe for the whole grace period.
  const serving = serveStdio(server, { input, output, graceMs: 0 })
  return {
    write: (message) => {
      input.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`)
    },
    received: lines,
    async close() {
      input.end()
      await serving.closed
      output.end()
      if (!output.readableEnded) await once(output, 'close')
    },
  }
}

export const openStdio = (server: Server, options: ProtocolClientOptions): Promise<ProtocolClient> =>
  openOverChannel(openPipe(server), server, options)
