/** The official client v2 as its README shows it. `auto` finds out that the server speaks 2026-07-28. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { echoText } from '../lib/messages.ts'
import type { BenchClient, ServerAddress } from './client.ts'
import { textOf } from './client.ts'

export async function open(address: ServerAddress): Promise<BenchClient> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(
    'url' in address
      ? new StreamableHTTPClientTransport(new URL(address.url))
      : new StdioClientTransport({ command: process.execPath, args: [address.script], stderr: 'ignore' }),
  )
  // The first call would list the tools; that is not what is measured.
  await client.listTools()
  return {
    call: async () => textOf(await client.callTool({ name: 'echo', arguments: { text: echoText } })),
    close: () => client.close(),
  }
}
