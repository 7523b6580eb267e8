/** `sluice/client` as its guide shows it. */
import { connect, httpTransport } from 'sluice/client'
import { createNodeSender, stdioTransport } from 'sluice/client-node'
import { echoText } from '../lib/messages.ts'
import type { BenchClient, ServerAddress } from './client.ts'
import { textOf } from './client.ts'

export async function open(address: ServerAddress): Promise<BenchClient> {
  const sender = createNodeSender()
  const client = await connect(
    'url' in address
      ? httpTransport(address.url, { sender: sender.send })
      : stdioTransport({ command: process.execPath, args: [address.script] }),
  )
  return {
    call: async () => textOf(await client.callTool('echo', { text: echoText })),
    async close() {
      await client.close()
      sender.close()
    },
  }
}
