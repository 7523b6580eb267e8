/** The official client v1, which speaks revisions up to 2025-11-25. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { echoText } from '../lib/messages.ts'
import type { BenchClient, ServerAddress } from './client.ts'
import { textOf } from './client.ts'

export async function open(address: ServerAddress): Promise<BenchClient> {
  const client = new Client({ name: 'bench', version: '1' })
  await client.connect(
    'url' in address
      ? // Its own type of a transport disagrees with `exactOptionalPropertyTypes`.
        (new StreamableHTTPClientTransport(new URL(address.url)) as Parameters<typeof client.connect>[0])
      : new StdioClientTransport({ command: process.execPath, args: [address.script], stderr: 'ignore' }),
  )
  return {
    call: async () => textOf(await client.callTool({ name: 'echo', arguments: { text: echoText } })),
    close: () => client.close(),
  }
}
