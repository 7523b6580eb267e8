/** The official suite as a program: its location and its start. */

import { spawn } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const suite: string = dirname(
  fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/package.json')),
)

/** The suite needs Node 22 or later, so it runs on the Node of this process. */
export async function conformance(args: readonly string[]): Promise<{ readonly exit: number; readonly said: string }> {
  const child = spawn(process.execPath, [join(suite, 'dist', 'index.js'), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const exit = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
  return { exit, said }
}
