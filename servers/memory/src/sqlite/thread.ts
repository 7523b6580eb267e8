/**
 * Runs the SQLite archive in a separate thread. `node:sqlite` is synchronous, and a long text, a large workspace or a
 * filter without matches takes hundreds of milliseconds. On the serving thread every other call would wait for it.
 *
 * If the thread dies, its open calls fail. The next call starts a new thread, because acknowledged writes are on the
 * disk.
 */

import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { RpcError } from 'sluice'
import type { Archive, Workspace } from '../archive.ts'
import { VectorLengthMismatch, WorkspaceDeleted } from '../archive.ts'

export interface WorkerRequest {
  readonly n: number
  readonly verb: string
  readonly args: readonly unknown[]
  /** The workspace, if the operation belongs to one. */
  readonly workspace?: WorkspaceRef
}
export interface WorkspaceRef {
  readonly handle: number
  readonly tenant: string
  readonly id: string
}
export interface WorkerFault {
  readonly name: string
  readonly message: string
  readonly reason?: string
  readonly expected?: number
  readonly actual?: number
}
/** `n` is that of the request; 0 says that the archive is open, or why it is not. */
export type WorkerResponse =
  | { readonly n: number; readonly result: unknown }
  | { readonly n: number; readonly fault: WorkerFault }

/** In the same folder with the same extension: `.js` in the build and in a tarball, `.ts` in the sources. */
const workerUrl = new URL(`./worker${extname(import.meta.url)}`, import.meta.url)

const workspaceVerbs = [
  ...['add', 'get', 'list', 'walk', 'delete', 'clear', 'counts', 'searchText', 'searchVectors', 'read', 'unembedded'],
  ...['embed', 'relate', 'entity', 'relationsOf', 'entities', 'relations', 'entitiesBy', 'graphCounts'],
  ...['addGraph', 'deleteUnrelated'],
]

interface Thread {
  request(question: Omit<WorkerRequest, 'n'>): Promise<unknown>
  terminate(): Promise<void>
}

/** Rejects if the file cannot be opened; the message says what to do. */
export async function threadArchive(path: string): Promise<Archive> {
  let isClosed = false
  let running: Promise<Thread> | undefined = start()
  await running

  function start(): Promise<Thread> {
    const started = startThread(path, () => {
      running = undefined
    })
    started.catch(() => {
      running = undefined
    })
    return started
  }
  async function ask<T>(verb: string, args: readonly unknown[], of?: WorkspaceRef): Promise<T> {
    if (isClosed) throw new RpcError('storeUnavailable', 'The store is closed')
    running ??= start()
    const thread = await running
    return (await thread.request({ verb, args, ...(of && { workspace: of }) })) as T
  }
  const toWorkspace = (of: WorkspaceRef): Workspace =>
    ({
      tenant: of.tenant,
      id: of.id,
      ...Object.fromEntries(workspaceVerbs.map((verb) => [verb, (...args: unknown[]) => ask(verb, args, of)])),
    }) as Workspace
  return {
    async workspace(tenant, id) {
      const found = await ask<WorkspaceRef | undefined>('workspace', [tenant, id])
      return found && toWorkspace(found)
    },
    createWorkspace: (tenant, workspace) => ask('createWorkspace', [tenant, workspace]),
    listWorkspaces: (tenant) => ask('listWorkspaces', [tenant]),
    deleteWorkspace: (tenant, id) => ask('deleteWorkspace', [tenant, id]),
    unembedded: async () => (await ask<readonly WorkspaceRef[]>('unembedded', [])).map(toWorkspace),
    useVectors: (model) => ask('useVectors', [model]),
    async close() {
      if (isClosed) return
      const thread = await running
      await thread?.request({ verb: 'close', args: [] })
      isClosed = true
      await thread?.terminate()
    },
  }
}

function startThread(path: string, ended: () => void): Promise<Thread> {
  const worker = new Worker(workerUrl, { workerData: path, env: {}, execArgv: [] })
  const open = new Map<number, { resolve(result: unknown): void; reject(thrown: unknown): void }>()
  let [count, failure] = [0, undefined as unknown]
  const settle = (n: number): ReturnType<typeof open.get> => {
    const waiting = open.get(n)
    open.delete(n)
    // An idle thread must not keep the process alive; a busy one must.
    if (open.size === 0) worker.unref()
    return waiting
  }
  worker.on('message', (reply: WorkerResponse) => {
    const waiting = settle(reply.n)
    if ('fault' in reply) waiting?.reject(toError(reply.fault))
    else waiting?.resolve(reply.result)
  })
  worker.on('error', (thrown: unknown) => {
    failure = thrown
  })
  worker.on('exit', () => {
    ended()
    for (const n of [...open.keys()])
      settle(n)?.reject(new RpcError('storeUnavailable', 'The store has stopped', { cause: failure }))
  })
  const ask = (n: number): Promise<unknown> => {
    worker.ref()
    return new Promise((resolve, reject) => open.set(n, { resolve, reject }))
  }
  const thread: Thread = {
    request(question) {
      const answer = ask(++count)
      worker.postMessage({ ...question, n: count } satisfies WorkerRequest)
      return answer
    },
    async terminate() {
      await worker.terminate()
    },
  }
  return ask(0).then(() => thread)
}

function toError({ name, message, reason, expected = 0, actual = 0 }: WorkerFault): Error {
  if (name === 'WorkspaceDeleted') return new WorkspaceDeleted(message)
  if (name === 'VectorLengthMismatch') return new VectorLengthMismatch(expected, actual)
  if (reason === 'storeUnavailable') return new RpcError(reason, message)
  return Object.assign(new Error(message), { name })
}
