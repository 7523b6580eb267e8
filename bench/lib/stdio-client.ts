/** An MCP server over stdio, called one request at a time, with the time that a client waits, in microseconds. */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { logs } from './child.ts'

export interface StdioClient {
  /** Returns the result and its duration. Throws if the server reports an error. */
  call(name: string, args: object): Promise<{ readonly result: Record<string, unknown>; readonly ms: number }>
  close(): Promise<void>
}

const silentAfterMs = 120_000

export async function openStdio(args: readonly string[], env: Record<string, string> = {}): Promise<StdioClient> {
  const child = spawn(process.execPath, [...args], { stdio: ['pipe', 'pipe', logs], env: { ...process.env, ...env } })
  child.stdin.on('error', () => {})
  const waiting = new Map<number, (message: Record<string, unknown> | Error) => void>()
  const fail = (): void => {
    for (const settle of waiting.values()) settle(new Error(`${args[0]} ended; BENCH_LOGS=1 shows what it wrote`))
  }
  child.on('exit', fail)
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Record<string, unknown>
    waiting.get(Number(message['id']))?.(message)
  })
  let ids = 0
  async function request(method: string, params: object): Promise<Record<string, unknown>> {
    const id = ++ids
    const answered = new Promise<Record<string, unknown> | Error>((resolve) => waiting.set(id, resolve))
    const timer = setTimeout(() => waiting.get(id)?.(new Error(`${args[0]} is silent`)), silentAfterMs)
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    const message = await answered
    clearTimeout(timer)
    waiting.delete(id)
    if (message instanceof Error) throw message
    const result = message['result'] as Record<string, unknown> | undefined
    if (!result || result['isError'] === true) throw new Error(`${args[0]}: ${JSON.stringify(message).slice(0, 300)}`)
    return result
  }
  await request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
  return {
    async call(name, args) {
      const begun = performance.now()
      const result = await request('tools/call', { name, arguments: args })
      return { result, ms: performance.now() - begun }
    },
    async close() {
      child.off('exit', fail)
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(timer)
    },
  }
}
