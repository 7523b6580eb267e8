/** The thread that has the file open. It answers each question once, in whatever order the answers are ready. */

import { parentPort, workerData } from 'node:worker_threads'
import { RpcError } from 'sluice'
import type { Archive, Workspace } from '../archive.ts'
import { WorkspaceGone, WrongLength } from '../archive.ts'
import { sqliteArchive } from './archive.ts'
import type { Fault, Question, Reply, WorkspaceRef } from './thread.ts'

type Verb = (...args: readonly unknown[]) => Promise<unknown>

/** Workspaces that the other thread may still name. One that was dropped is looked up by its name again. */
const maxHandles = 1000
const handles = new Map<number, Workspace>()
const known = new WeakMap<Workspace, number>()
let count = 0

function toRef(workspace: Workspace): WorkspaceRef {
  const handle = known.get(workspace) ?? ++count
  known.set(workspace, handle)
  handles.delete(handle)
  handles.set(handle, workspace)
  const [oldest] = handles.keys()
  if (handles.size > maxHandles && oldest !== undefined) handles.delete(oldest)
  return { handle, tenant: workspace.tenant, id: workspace.id }
}

async function answer(archive: Archive, { verb, args, of }: Question): Promise<unknown> {
  if (of) {
    const workspace = handles.get(of.handle) ?? (await archive.workspace(of.tenant, of.id))
    if (!workspace) throw new WorkspaceGone()
    return (workspace[verb as keyof Workspace] as Verb)(...args)
  }
  const result = await (archive[verb as keyof Archive] as Verb)(...args)
  if (verb === 'workspace') return result && toRef(result as Workspace)
  return verb === 'unembedded' ? (result as readonly Workspace[]).map(toRef) : result
}

function toFault(thrown: unknown): Fault {
  if (thrown instanceof WrongLength) {
    const { name, message, kept, given } = thrown
    return { name, message, kept, given }
  }
  if (thrown instanceof RpcError) return { name: thrown.name, message: thrown.message, reason: thrown.reason }
  return thrown instanceof Error
    ? { name: thrown.name, message: thrown.message }
    : { name: 'Error', message: String(thrown) }
}

const send = (reply: Reply): void => parentPort?.postMessage(reply)
try {
  const archive = sqliteArchive(String(workerData), { now: () => Date.now() })
  parentPort?.on('message', (question: Question) => {
    answer(archive, question).then(
      (result) => send({ n: question.n, result }),
      (thrown: unknown) => send({ n: question.n, fault: toFault(thrown) }),
    )
  })
  send({ n: 0, result: undefined })
} catch (thrown) {
  send({ n: 0, fault: toFault(thrown) })
}
