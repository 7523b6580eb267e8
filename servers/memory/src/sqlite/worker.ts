/** The thread that opens the file. It answers each request once, in any order. */

import { parentPort, workerData } from 'node:worker_threads'
import { RpcError } from 'sluice'
import type { Archive, Workspace } from '../archive.ts'
import { VectorLengthMismatch, WorkspaceDeleted } from '../archive.ts'
import { sqliteArchive } from './archive.ts'
import type { WorkerFault, WorkerRequest, WorkerResponse, WorkspaceRef } from './thread.ts'

type Verb = (...args: readonly unknown[]) => Promise<unknown>

/** Workspaces that the main thread may refer to by handle. An evicted one is looked up by its name again. */
const maxHandles = 1000
const handles = new Map<number, Workspace>()
const handleOf = new WeakMap<Workspace, number>()
let lastHandle = 0

function toRef(workspace: Workspace): WorkspaceRef {
  const handle = handleOf.get(workspace) ?? ++lastHandle
  handleOf.set(workspace, handle)
  handles.delete(handle)
  handles.set(handle, workspace)
  const [oldest] = handles.keys()
  if (handles.size > maxHandles && oldest !== undefined) handles.delete(oldest)
  return { handle, tenant: workspace.tenant, id: workspace.id }
}

async function answer(archive: Archive, { verb, args, workspace: of }: WorkerRequest): Promise<unknown> {
  if (of) {
    const workspace = handles.get(of.handle) ?? (await archive.workspace(of.tenant, of.id))
    if (!workspace) throw new WorkspaceDeleted()
    return (workspace[verb as keyof Workspace] as Verb)(...args)
  }
  const result = await (archive[verb as keyof Archive] as Verb)(...args)
  if (verb === 'workspace') return result && toRef(result as Workspace)
  return verb === 'unembedded' ? (result as readonly Workspace[]).map(toRef) : result
}

function toFault(thrown: unknown): WorkerFault {
  if (thrown instanceof VectorLengthMismatch) {
    const { name, message, expected, actual } = thrown
    return { name, message, expected, actual }
  }
  if (thrown instanceof RpcError) return { name: thrown.name, message: thrown.message, reason: thrown.reason }
  return thrown instanceof Error
    ? { name: thrown.name, message: thrown.message }
    : { name: 'Error', message: String(thrown) }
}

const send = (reply: WorkerResponse): void => parentPort?.postMessage(reply)
try {
  const archive = sqliteArchive(String(workerData), { now: () => Date.now() })
  parentPort?.on('message', (question: WorkerRequest) => {
    answer(archive, question).then(
      (result) => send({ n: question.n, result }),
      (thrown: unknown) => send({ n: question.n, fault: toFault(thrown) }),
    )
  })
  send({ n: 0, result: undefined })
} catch (thrown) {
  send({ n: 0, fault: toFault(thrown) })
}
