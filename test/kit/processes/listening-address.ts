/** Reads the address of a server that was started as a process from its stderr. */

import type { ChildProcess } from 'node:child_process'

export interface ListeningProcess {
  readonly url: string
  /** Returns all output so far. */
  readonly stderr: () => string
}

export function addressOf(child: ChildProcess): Promise<ListeningProcess> {
  let text = ''
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString()
      const url = /on (http:\S+)/.exec(text)?.[1]
      if (url) resolve({ url, stderr: () => text })
    })
    child.once('exit', (code) => reject(new Error(`ended with ${code}: ${text}`)))
  })
}
