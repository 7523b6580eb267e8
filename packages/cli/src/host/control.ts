/**
 * Lets `sluice upstreams` talk to the processes that run on a data folder: a socket per process in `control`, which only
 * this account can open, because the data folder is private.
 */

import { readdirSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Logger } from 'sluice'
import type { Gateway, UpstreamState } from 'sluice/gateway-node'
import { makePrivateFolder } from 'sluice/node'

/** An import would load all of fetch, because it reads every export. */
const { createServer, request } = process.getBuiltinModule('node:http')

/** A running process and its upstreams. */
export interface RunningProcess {
  readonly pid: number
  readonly upstreams: readonly UpstreamState[]
}

const folderIn = (data: string): string => join(data, 'control')

/** Opens the socket of this process. A socket that cannot be opened costs the command and nothing else. */
export async function listenForControl(
  data: string,
  gateway: Gateway,
  logger: Logger,
): Promise<{ close(): Promise<void> }> {
  const path = join(folderIn(data), `${process.pid}.sock`)
  const server = createServer((incoming, response) => {
    answer(gateway, incoming).then(
      (body) => response.end(JSON.stringify(body)),
      (thrown: unknown) => {
        response.statusCode = 400
        response.end(JSON.stringify({ error: thrown instanceof Error ? thrown.message : String(thrown) }))
      },
    )
  })
  const problem = await new Promise<Error | undefined>((resolve) => {
    makePrivateFolder(folderIn(data))
    rmSync(path, { force: true })
    server.once('error', resolve)
    server.listen(path, () => resolve(undefined))
  })
  if (problem) logger.warn({ event: 'noControlSocket', message: problem.message })
  return {
    async close() {
      if (problem) return
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(gateway: Gateway, { method, url = '' }: IncomingMessage): Promise<unknown> {
  if (method === 'GET') return { pid: process.pid, upstreams: gateway.states() } satisfies RunningProcess
  await gateway.restart(decodeURIComponent(url.slice('/restart/'.length)))
  return {}
}

/** Returns the processes that run on a data folder. Sockets of processes that were killed are removed. */
export async function findProcesses(data: string): Promise<readonly RunningProcess[]> {
  const found = await Promise.all(
    socketsIn(data).map((path) =>
      ask<RunningProcess>(path, 'GET', '/').catch((thrown: unknown) => {
        if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ECONNREFUSED') rmSync(path, { force: true })
        return undefined
      }),
    ),
  )
  return found.filter((each) => each !== undefined)
}

/** Restarts an upstream in one process. Rejects with the reason if it cannot be listed again. */
export const restartIn = (data: string, pid: number, upstream: string): Promise<unknown> =>
  ask(join(folderIn(data), `${pid}.sock`), 'POST', `/restart/${encodeURIComponent(upstream)}`)

function socketsIn(data: string): readonly string[] {
  try {
    return readdirSync(folderIn(data))
      .filter((name) => name.endsWith('.sock'))
      .map((name) => join(folderIn(data), name))
  } catch {
    // No process has run upstreams on this data folder.
    return []
  }
}

const answerWithinMs = 60_000

function ask<T>(socketPath: string, method: string, path: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, timeout: answerWithinMs }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        try {
          const body: unknown = JSON.parse(text)
          if (response.statusCode === 200) resolve(body as T)
          else reject(new Error((body as { readonly error?: string }).error ?? 'refused'))
        } catch (thrown) {
          reject(thrown)
        }
      })
    })
    sent.on('timeout', () => sent.destroy(new Error('no answer')))
    sent.on('error', reject)
    sent.end()
  })
}
