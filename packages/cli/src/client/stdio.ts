/** Starts a server as a child process and exchanges one message per line. Its stderr goes to ours. */

import { spawn } from 'node:child_process'
import { readLines } from 'sluice/node'
import { CommandError } from '../output.ts'
import type { Message } from './message.ts'
import type { ClientTransport } from './transport.ts'

export function stdioTransport(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  quiet: boolean,
): ClientTransport {
  const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', quiet ? 'ignore' : 'inherit'], env })
  const waiting = new Map<unknown, { resolve(message: Message): void; reject(error: Error): void }>()
  let currentListener: (message: Message) => void = () => {}
  const failAll = (message: string): void => {
    for (const { reject } of waiting.values()) reject(new CommandError(message))
    waiting.clear()
  }
  child.once('error', (error) => failAll(`${command} cannot be started: ${error.message}`))
  child.once('exit', (code) => failAll(`${command} exited with ${code} before it responded`))
  child.stdin.on('error', () => {})
  function receive(line: string): void {
    let message: Message
    try {
      message = JSON.parse(line) as Message
    } catch {
      return
    }
    const request = message.method === undefined ? waiting.get(message.id) : undefined
    waiting.delete(request && message.id)
    if (request) request.resolve(message)
    else currentListener(message)
  }
  async function read(): Promise<void> {
    for await (const line of readLines(child.stdout)) receive(line)
  }
  read().catch((thrown: unknown) => failAll(`${command} cannot be read: ${String(thrown)}`))
  return {
    setRevision() {},
    exchange(message, onMessage) {
      currentListener = onMessage
      const send = (): void => {
        child.stdin.write(`${JSON.stringify(message)}\n`)
      }
      if (message.id === undefined || message.method === undefined) {
        send()
        return Promise.resolve(undefined)
      }
      return new Promise((resolve, reject) => {
        waiting.set(message.id, { resolve, reject })
        if (child.exitCode !== null) failAll(`${command} exited with ${child.exitCode}`)
        else send()
      })
    },
    async close() {
      if (child.exitCode !== null) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      const killTimer = setTimeout(() => child.kill(), 2000)
      await exited
      clearTimeout(killTimer)
    },
  }
}
