/**
 * Lets `sluice upstreams` talk to the processes that run on a data folder: a socket per process in `control`, which only
 * this account can open, because the data folder is private.
 */

import { readdirSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Logger } from 'sluice'
import type { Gateway, ReviewedDefinition, Reviewer, UpstreamDiff, UpstreamState } from 'sluice/gateway-node'
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

/** A decision on definitions of an upstream, as the command sends it. */
interface ReviewDecision {
  readonly definitions: readonly ReviewedDefinition[]
  readonly by: Reviewer
}

async function answer(gateway: Gateway, incoming: IncomingMessage): Promise<unknown> {
  const { method, url = '' } = incoming
  const [, action = '', name = ''] = url.split('/').map(decodeURIComponent)
  if (action === 'diff') return gateway.review.diff(name)
  if (method === 'GET') return { pid: process.pid, upstreams: gateway.states() } satisfies RunningProcess
  if (action === 'accept' || action === 'reject') {
    const { definitions, by } = await decisionIn(incoming)
    await gateway.review[action](name, definitions, by)
  } else await gateway.restart(name)
  return {}
}

/** The socket is private to this account, and the command on the other end wrote the body. */
async function decisionIn(incoming: IncomingMessage): Promise<ReviewDecision> {
  let text = ''
  incoming.setEncoding('utf8')
  for await (const chunk of incoming) text += String(chunk)
  return JSON.parse(text) as ReviewDecision
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

/** Returns how the definitions of an upstream differ from the accepted ones, as one process sees them. */
export const diffIn = (data: string, pid: number, upstream: string): Promise<UpstreamDiff> =>
  ask(join(folderIn(data), `${pid}.sock`), 'GET', `/diff/${encodeURIComponent(upstream)}`)

/** Accepts or rejects definitions through one process. Rejects with the reason if they are not what was shown. */
export const decideIn = (
  data: string,
  pid: number,
  upstream: string,
  action: 'accept' | 'reject',
  decision: ReviewDecision,
): Promise<unknown> =>
  ask(join(folderIn(data), `${pid}.sock`), 'POST', `/${action}/${encodeURIComponent(upstream)}`, decision)

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

function ask<T>(socketPath: string, method: string, path: string, body?: object): Promise<T> {
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
    sent.end(body && JSON.stringify(body))
  })
}
