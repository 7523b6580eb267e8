/** What the tools, the resource and the prompt share, and which workspace a call means. */

import type { Clock, Effect, ToolContext } from 'sluice'
import { fail, RpcError } from 'sluice'
import type { Archive, Workspace } from './archive.ts'
import { defaultWorkspace } from './archive.ts'
import type { CatchUp } from './embeddings/catch-up.ts'
import type { Embedder } from './embeddings/embedder.ts'
import type { Recall } from './recall.ts'

export interface App {
  readonly archive: Archive
  readonly recall: Recall
  readonly embedder: Embedder | undefined
  readonly catchUp: CatchUp | undefined
  readonly clock: Clock
  /** Where a connection begins. */
  readonly initialWorkspace: string
}

/** Whoever the runtime says the caller works for. A public call works for nobody, and nobody has memories. */
export function tenantOf({ call }: Pick<ToolContext, 'call'>): string {
  if (call.tenant.id === '') throw new RpcError('forbidden', 'Memories belong to somebody: sign in first')
  return call.tenant.id
}

/** How long an idle connection's choice is remembered. */
const choiceTtlMs = 7 * 24 * 60 * 60 * 1000

/**
 * The choice belongs to one connection: a pipe, a socket or a session. Kept by caller or for the whole process it would
 * move another agent's memories into a workspace it never asked for.
 */
const choiceKey = ({ call }: Pick<ToolContext, 'call'>): readonly string[] | undefined =>
  call.via.connection && ['memory', 'workspace', call.via.connection.id]

export async function currentWorkspace(desk: App, work: Pick<ToolContext, 'call'>): Promise<string> {
  const key = choiceKey(work)
  return (key && (await work.call.tenant.store.get(key))) ?? desk.initialWorkspace
}

export async function chooseWorkspace(work: Pick<ToolContext, 'call'>, id: string): Promise<void> {
  const key = choiceKey(work)
  if (!key)
    throw fail(
      'This connection remembers nothing between two calls, so there is no current workspace to set: pass workspace_id with each call.',
    )
  await work.call.tenant.store.set(key, id, choiceTtlMs)
}

/** Back to the default one, if the connection's current workspace is this one. Without a connection there is none to leave. */
export async function resetWorkspace(desk: App, work: Pick<ToolContext, 'call'>, id: string): Promise<void> {
  if (choiceKey(work) && (await currentWorkspace(desk, work)) === id) await chooseWorkspace(work, defaultWorkspace)
}

/** The named workspace, else the connection's current one. */
export async function workspaceFor(desk: App, work: Pick<ToolContext, 'call'>, named?: string): Promise<Workspace> {
  const id = named ?? (await currentWorkspace(desk, work))
  const found = (await desk.archive.workspace(tenantOf(work), id)) ?? (await createInitialWorkspace(desk, work, id))
  if (!found)
    throw fail(`Workspace not found: ${id}. list_workspaces shows those there are; create_workspace makes one.`)
  return found
}

/** The workspace a client's configuration names comes into being with its first use. */
async function createInitialWorkspace(
  desk: App,
  work: Pick<ToolContext, 'call'>,
  id: string,
): Promise<Workspace | undefined> {
  if (id !== desk.initialWorkspace || id === defaultWorkspace) return undefined
  await desk.archive.createWorkspace(tenantOf(work), { id, name: id, description: '', createdAt: desk.clock.now() })
  return desk.archive.workspace(tenantOf(work), id)
}

/** What deleting a workspace or its contents would take away: shown to the person who approves it. */
export async function contentsOf(workspace: Workspace): Promise<Effect> {
  const [{ memories }, { entities, relations }] = await Promise.all([workspace.counts(), workspace.graphCounts()])
  return { Workspace: workspace.id, Memories: memories, Entities: entities, Relations: relations }
}
