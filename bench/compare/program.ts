/** A program of the comparison as a process, and one HTTP request to it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Running {
  readonly url: string
  readonly child: ChildProcess
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts a program, waits until it listens, and stops it when `use` is done. */
export async function withProgram<T>(
  folder: string,
  file: string,
  env: Record<string, string>,
  use: (running: Running) => Promise<T>,
): Promise<T> {
  const port = await freePort()
  const child = spawn(process.execPath, [file, '--port', String(port)], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const url = `http://127.0.0.1:${port}/mcp`
    for (let tries = 0; !(await isListening(url)); tries++) {
      if (tries > 200 || child.exitCode !== null) throw new Error(`${folder}/${file} does not listen`)
      await sleep(50)
    }
    return await use({ url, child })
  } finally {
    child.kill('SIGKILL')
  }
}

const isListening = (url: string): Promise<boolean> =>
  send(url, {}).then(
    () => true,
    () => false,
  )

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The JSON-RPC message, from a JSON body or from the last event of a stream. */
  readonly message: Record<string, unknown>
  readonly text: string
}

/** `node:http`, because fetch does not let a program choose the Host header. */
export function send(url: string, headers: Record<string, string>, body?: unknown): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST'
    const accept = body === undefined ? 'application/json' : 'application/json, text/event-stream'
    const all = { accept, ...(body !== undefined && { 'content-type': 'application/json' }), ...headers }
    const sent = request(url, { method, headers: all, timeout: 10_000 }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, message: messageIn(text), text }),
      )
      response.on('error', reject)
    })
    sent.on('error', reject)
    sent.on('timeout', () => sent.destroy(new Error('timeout')))
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function messageIn(text: string): Record<string, unknown> {
  const data = text.split('\n').findLast((line) => line.startsWith('data: {'))
  try {
    return JSON.parse(data?.slice('data: '.length) ?? text) as Record<string, unknown>
  } catch {
    return {}
  }
}
