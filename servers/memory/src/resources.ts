/** One memory at `memory://workspace/id`, for clients in which people choose what a model reads. */

import type { Resource } from 'sluice'
import { resource } from 'sluice'
import type { App } from './app.ts'
import { currentWorkspace, tenantOf } from './app.ts'
import { preview, toMemoryJson, uriOf } from './memory.ts'

const newestPage = { filters: { tags: [] }, limit: 50 }

export const memoryResource = (app: App): Resource =>
  resource({
    uri: 'memory://{workspace}/{id}',
    name: 'memory',
    title: 'A memory',
    description: 'One memory, whole; its tags, source and date are in _meta',
    mimeType: 'text/plain',
    complete: {
      workspace: async (typed, _, call) =>
        (await app.archive.listWorkspaces(tenantOf({ call }))).map(({ id }) => id).filter((id) => id.startsWith(typed)),
    },
    /** Lists the newest memories of the current workspace; search finds the others. */
    async list(_, context) {
      const id = await currentWorkspace(app, context)
      const workspace = await app.archive.workspace(tenantOf(context), id)
      const memories = (await workspace?.list(newestPage)) ?? []
      return {
        resources: memories.map(({ id: memory, text, at }) => ({
          uri: uriOf(id, memory),
          name: preview(text, 60),
          mimeType: 'text/plain',
          annotations: { lastModified: new Date(at).toISOString() },
        })),
      }
    },
    async read({ workspace: named, id }, context) {
      if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(String(id))) return undefined
      const workspace = await app.archive.workspace(tenantOf(context), String(named))
      const memory = await workspace?.get(String(id).toLowerCase())
      if (!workspace || !memory) return undefined
      const { text, ...about } = toMemoryJson(memory)
      return {
        uri: uriOf(workspace.id, memory.id),
        mimeType: 'text/plain',
        text,
        _meta: { 'dev.sluice/memory': about },
      }
    },
  })
