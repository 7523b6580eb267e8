/** Defines what the tools, the resource and the prompt share, and resolves the workspace of a call. */

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
  /** The workspace that a new connection starts in. */
  readonly initialWorkspace: string
  /** Folders of source code that may be indexed. */
  readonly codeFolders: readonly string[]
}

/** Returns the tenant of the caller. A public call has no tenant, and memories always belong to one. */
export function tenantOf({ call }: Pick<ToolContext, 'call'>): string {
  if (call.tenant.id === '') throw new RpcError('forbidden', 'Memories belong to a tenant: sign in first')
  return call.tenant.id
}

/** How long the choice of an idle connection is kept. */
const choiceTtlMs = 7 * 24 * 60 * 60 * 1000

/**
 * The chosen workspace belongs to one connection: a pipe, a socket or a session. Kept per caller or per process, it
 * would move another agent's memories into a workspace that it never chose.
 */
const choiceKey = ({ call }: Pick<ToolContext, 'call'>): readonly string[] | undefined =>
  call.via.connection && ['memory', 'workspace', call.via.connection.id]

export async function currentWorkspace(app: App, context: Pick<ToolContext, 'call'>): Promise<string> {
  const key = choiceKey(context)
  return (key && (await context.call.tenant.store.get(key))) ?? app.initialWorkspace
}

export async function chooseWorkspace(context: Pick<ToolContext, 'call'>, id: string): Promise<void> {
  const key = choiceKey(context)
  if (!key)
    throw fail(
      'This connection keeps no state between two calls, so it cannot have a current workspace: pass workspace_id with each call.',
    )
  await context.call.tenant.store.set(key, id, choiceTtlMs)
}

/** Resets the connection to the default workspace if this one is current. Does nothing without a connection. */
export async function resetWorkspace(app: App, context: Pick<ToolContext, 'call'>, id: string): Promise<void> {
  if (choiceKey(context) && (await currentWorkspace(app, context)) === id)
    await chooseWorkspace(context, defaultWorkspace)
}

/** Returns the named workspace, otherwise the connection's current one. */
export async function workspaceFor(app: App, context: Pick<ToolContext, 'call'>, named?: string): Promise<Workspace> {
  const id = named ?? (await currentWorkspace(app, context))
  const found = (await app.archive.workspace(tenantOf(context), id)) ?? (await createInitialWorkspace(app, context, id))
  if (!found)
    throw fail(`Workspace not found: ${id}. list_workspaces shows the existing ones; create_workspace creates one.`)
  return found
}

/** Creates the workspace that the client's configuration names, at its first use. */
async function createInitialWorkspace(
  app: App,
  context: Pick<ToolContext, 'call'>,
  id: string,
): Promise<Workspace | undefined> {
  if (id !== app.initialWorkspace || id === defaultWorkspace) return undefined
  await app.archive.createWorkspace(tenantOf(context), { id, name: id, description: '', createdAt: app.clock.now() })
  return app.archive.workspace(tenantOf(context), id)
}

/** Describes what deleting a workspace or its contents would remove, for the person who approves it. */
export async function contentsOf(workspace: Workspace): Promise<Effect> {
  const [{ memories }, { entities, relations }] = await Promise.all([workspace.counts(), workspace.graphCounts()])
  return { Workspace: workspace.id, Memories: memories, Entities: entities, Relations: relations }
}
