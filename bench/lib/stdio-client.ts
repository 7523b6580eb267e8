/** An MCP server over stdio, called one request at a time, with the time that a client waits. */
import { connect } from 'sluice/client'
import { stdioTransport } from 'sluice/client-node'
import { logs } from './child.ts'

export interface StdioClient {
  /** Returns the result and its duration. Throws if the server reports an error. */
  call(name: string, args: object): Promise<{ readonly result: Record<string, unknown>; readonly ms: number }>
  close(): Promise<void>
}

const silentAfterMs = 120_000

export async function openStdio(args: readonly string[], env: Record<string, string> = {}): Promise<StdioClient> {
  const transport = stdioTransport({
    command: process.execPath,
    args,
    env: { ...process.env, ...env },
    ...(logs === 'inherit' && { onStderr: (text: string) => process.stderr.write(text) }),
  })
  // Peers speak the earlier revisions alone, so all are asked in their form.
  const client = await connect(transport, { revision: '2025-11-25', timeoutMs: silentAfterMs })
  return {
    async call(name, args) {
      const begun = performance.now()
      const result = await client.request('tools/call', { name, arguments: args })
      const ms = performance.now() - begun
      if (result['isError'] === true) throw new Error(`${name}: ${JSON.stringify(result).slice(0, 300)}`)
      return { result, ms }
    },
    close: () => client.close(),
  }
}
