/** A server as a process of our own: a message a line, in both directions. What it writes to stderr goes to ours. */

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
  const waiting = new Map<unknown, { resolve(message: Message): void; reject(why: Error): void }>()
  let currentListener: (message: Message) => void = () => {}
  const gone = (why: string): void => {
    for (const { reject } of waiting.values()) reject(new CommandError(why))
    waiting.clear()
  }
  child.once('error', (error) => gone(`${command} cannot be started: ${error.message}`))
  child.once('exit', (code) => gone(`${command} ended with ${code} before it answered`))
  child.stdin.on('error', () => {})
  function receive(line: string): void {
    let message: Message
    try {
      message = JSON.parse(line) as Message
    } catch {
      return
    }
    const asked = message.method === undefined ? waiting.get(message.id) : undefined
    waiting.delete(asked && message.id)
    if (asked) asked.resolve(message)
    else currentListener(message)
  }
  async function read(): Promise<void> {
    for await (const line of readLines(child.stdout)) receive(line)
  }
  read().catch((thrown: unknown) => gone(`${command} cannot be read: ${String(thrown)}`))
  return {
    setRevision() {},
    exchange(message, onMessage) {
      currentListener = onMessage
      const sent = (): void => {
        child.stdin.write(`${JSON.stringify(message)}\n`)
      }
      if (message.id === undefined || message.method === undefined) {
        sent()
        return Promise.resolve(undefined)
      }
      return new Promise((resolve, reject) => {
        waiting.set(message.id, { resolve, reject })
        if (child.exitCode !== null) gone(`${command} ended with ${child.exitCode}`)
        else sent()
      })
    },
    async close() {
      if (child.exitCode !== null) return
      const exited = new Promise((resolve) => child.once('exit', resolve))
      child.stdin.end()
      const stop = setTimeout(() => child.kill(), 2000)
      await exited
      clearTimeout(stop)
    },
  }
}
