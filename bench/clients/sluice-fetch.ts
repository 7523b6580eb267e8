/** `sluice/client` over `fetch`, as it runs where there is no `node:http`. */
import { connect, httpTransport } from 'sluice/client'
import { echoText } from '../lib/messages.ts'
import type { BenchClient, ServerAddress } from './client.ts'
import { textOf } from './client.ts'

export async function open(address: ServerAddress): Promise<BenchClient> {
  if (!('url' in address)) throw new Error('fetch has no pipes')
  const client = await connect(httpTransport(address.url))
  return {
    call: async () => textOf(await client.callTool('echo', { text: echoText })),
    close: () => client.close(),
  }
}
