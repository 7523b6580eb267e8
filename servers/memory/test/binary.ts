/** The binary as clients start it, with the official client at the other end. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { onTestFinished } from 'vitest'

export const main: string = fileURLToPath(new URL('../dist/main.js', import.meta.url))

const newClient = (): Client => {
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  onTestFinished(() => client.close())
  return client
}

export async function overStdio(folder: string, env: Record<string, string> = {}): Promise<Client> {
  const client = newClient()
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [main, '--data', folder], env, stderr: 'ignore' }),
  )
  return client
}

/** As many clients as wanted of one server. */
export async function serveHttp(folder: string): Promise<() => Promise<Client>> {
  const child = spawn(process.execPath, [main, '--http', '--port', '0', '--data', folder], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const found = /on (http:\S+)/.exec(said)?.[1]
      if (found) resolve(found)
    })
    child.on('exit', (code) => reject(new Error(`ended with ${code}: ${said}`)))
  })
  return async () => {
    const client = newClient()
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await client.connect(new StreamableHTTPClientTransport(new URL(url)) as Parameters<Client['connect']>[0])
    return client
  }
}

export async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args })
  return (content as readonly { readonly text: string }[])[0]?.text ?? ''
}
