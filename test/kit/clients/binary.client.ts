/** The binary of one of the servers, started as clients start it, with the official client. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { onTestFinished } from 'vitest'
import { addressOf } from '../processes/listening-address.ts'

/** The built program of `servers/<name>`. */
export const programOf = (server: string): string =>
  fileURLToPath(new URL(`../../../servers/${server}/dist/main.js`, import.meta.url))

const newClient = (): Client => {
  const client = new Client({ name: 'a-client', version: '1.0.0' })
  onTestFinished(() => client.close())
  return client
}

export async function overStdio(server: string, folder: string, env: Record<string, string> = {}): Promise<Client> {
  const client = newClient()
  const args = [programOf(server), '--data', folder]
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' }))
  return client
}

/** Returns a function that connects further clients to one process. */
export async function overHttp(server: string, folder: string): Promise<() => Promise<Client>> {
  const args = [programOf(server), '--http', '--port', '0', '--data', folder]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const { url } = await addressOf(child)
  return () => connectTo(url)
}

/** Connects to a running server, with a credential if it needs one. */
export async function connectTo(url: string, token?: string): Promise<Client> {
  const client = newClient()
  const requestInit = token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  return client
}

export async function textOf(client: Client, name: string, args: Record<string, unknown> = {}): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args })
  return (content as readonly { readonly text: string }[])[0]?.text ?? ''
}
