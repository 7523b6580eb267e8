/** Workspaces are separate memories. The current one is remembered per connection. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { chooseWorkspace, contentsOf, currentWorkspace, resetWorkspace, tenantOf, workspaceFor } from '../app.ts'
import { defaultWorkspace } from '../archive.ts'
import { shortText, workspaceId } from '../inputs.ts'
import { answer, counted } from './answer.ts'

/** Each workspace has its own tables; a loop that creates thousands is a mistake. */
const maxWorkspaces = 1000

export const workspaceTools = (app: App): readonly Tool[] => [
  tool({
    name: 'create_workspace',
    title: 'Create a workspace',
    description: 'Create a workspace: a separate memory, apart from all others',
    input: z.strictObject({
      workspace_id: workspaceId.describe('1 to 64 letters, digits, _ and -'),
      name: shortText(255).optional(),
      description: z
        .string()
        .max(1000, 'exceeds 1,000 characters')
        .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
        .optional(),
    }),
    annotations: { destructiveHint: false, openWorldHint: false },
    async run({ workspace_id: id, name = id, description = '' }, context) {
      const tenant = tenantOf(context)
      if ((await app.archive.listWorkspaces(tenant)).length >= maxWorkspaces)
        throw fail(`The limit of ${maxWorkspaces} workspaces is reached; delete one first.`)
      const isNew =
        id !== defaultWorkspace &&
        (await app.archive.createWorkspace(tenant, { id, name, description, createdAt: app.clock.now() }))
      if (!isNew) throw fail(`Workspace already exists: ${id}`)
      return answer(
        [
          'Workspace created successfully.',
          `ID: ${id}`,
          `Name: ${name}`,
          ...(description ? [`Description: ${description}`] : []),
        ],
        { workspace_id: id, name, description },
      )
    },
  }),
  tool({
    name: 'list_workspaces',
    title: 'List workspaces',
    description: 'List the workspaces, and which one is current',
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run(_, context) {
      const current = await currentWorkspace(app, context)
      // The first use creates it, but it is listed from the beginning.
      await app.archive.workspace(tenantOf(context), defaultWorkspace)
      const workspaces = await app.archive.listWorkspaces(tenantOf(context))
      return answer(
        [
          `${counted(workspaces.length, 'workspace', 'workspaces')}:`,
          ...workspaces.map(
            ({ id, name, memories }) =>
              `- ${id}${name === id ? '' : ` (${name})`}: ${counted(memories, 'memory', 'memories')}${id === current ? ', current' : ''}`,
          ),
        ],
        {
          current,
          workspaces: workspaces.map(({ id, name, description, createdAt, memories }) => ({
            workspace_id: id,
            name,
            description,
            created_at: new Date(createdAt).toISOString(),
            memories,
          })),
        },
      )
    },
  }),
  tool({
    name: 'set_current_workspace',
    title: 'Switch workspace',
    description: 'Switch to a workspace: from now on, calls on this connection that name none use it',
    input: z.strictObject({ workspace_id: workspaceId }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ workspace_id }, context) {
      const { id } = await workspaceFor(app, context, workspace_id)
      await chooseWorkspace(context, id)
      return answer([`Current workspace: ${id}`], { workspace_id: id })
    },
  }),
  tool({
    name: 'get_current_workspace',
    title: 'Current workspace',
    description: 'Get the current workspace of this connection',
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run(_, context) {
      const id = await currentWorkspace(app, context)
      return answer([`Current workspace: ${id}`], { workspace_id: id })
    },
  }),
  tool({
    name: 'delete_workspace',
    title: 'Delete a workspace',
    description: 'Delete a workspace with everything in it. Without confirm it only says what would be lost',
    input: z.strictObject({ workspace_id: workspaceId, confirm: z.boolean().default(false) }),
    annotations: { destructiveHint: true, openWorldHint: false },
    // Needs an approval like `clear_all`, which it would otherwise bypass. Deleting an empty workspace loses nothing.
    async approval({ workspace_id, confirm }, call) {
      if (!confirm || workspace_id === defaultWorkspace) return false
      const workspace = await app.archive.workspace(tenantOf({ call }), workspace_id)
      return (
        workspace !== undefined &&
        ((await workspace.counts()).memories > 0 || (await workspace.graphCounts()).relations > 0)
      )
    },
    effect: async ({ workspace_id }, context) => contentsOf(await workspaceFor(app, context, workspace_id)),
    async run({ workspace_id: id, confirm }, context) {
      if (id === defaultWorkspace) throw fail('The default workspace cannot be deleted; clear_all empties it.')
      const workspace = await workspaceFor(app, context, id)
      const { memories, chunks } = await workspace.counts()
      if (!confirm)
        return answer(
          [
            `Warning: workspace ${id} holds ${counted(memories, 'memory', 'memories')} in ${counted(chunks, 'chunk', 'chunks')}.`,
            'Nothing was deleted. Call again with confirm: true to delete it with everything in it.',
          ],
          { workspace_id: id, deleted: false, memories, chunks },
        )
      if (!(await app.archive.deleteWorkspace(tenantOf(context), id))) throw fail(`Workspace not found: ${id}`)
      // The workspace is deleted, whatever happens now: an error would make the agent believe that it still exists.
      const hasLeft = await resetWorkspace(app, context, id).then(
        () => true,
        () => false,
      )
      const note = hasLeft ? undefined : 'This connection still uses it. Choose another with set_current_workspace.'
      return answer([`Workspace deleted: ${id}`, `Memories: ${memories}`, ...(note ? [`Note: ${note}`] : [])], {
        workspace_id: id,
        deleted: true,
        memories,
        chunks,
        ...(note && { note }),
      })
    },
  }),
]
