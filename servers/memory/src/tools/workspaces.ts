/** Workspaces: rooms with a memory each. Which one is current is remembered per connection. */

import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { chooseWorkspace, contentsOf, currentWorkspace, resetWorkspace, tenantOf, workspaceFor } from '../app.ts'
import { defaultWorkspace } from '../archive.ts'
import { shortText, workspaceId } from '../inputs.ts'
import { answer, counted } from './answer.ts'

/** Each has tables of its own; a loop that makes them by the thousand is a mistake. */
const maxWorkspaces = 1000

export const workspaceTools = (desk: App): readonly Tool[] => [
  tool({
    name: 'create_workspace',
    title: 'Create a workspace',
    description: 'Create a workspace: a memory of its own, apart from all others',
    input: z.strictObject({
      workspace_id: workspaceId.describe('Letters, digits, _ and -, 1 to 64 of them'),
      name: shortText(255).optional(),
      description: z
        .string()
        .max(1000, 'exceeds 1,000 characters')
        .refine((text) => !text.includes('\0'), 'must not contain the NUL character')
        .optional(),
    }),
    annotations: { destructiveHint: false, openWorldHint: false },
    async run({ workspace_id: id, name = id, description = '' }, work) {
      const tenant = tenantOf(work)
      if ((await desk.archive.listWorkspaces(tenant)).length >= maxWorkspaces)
        throw fail(`There are ${maxWorkspaces} workspaces already; delete one first.`)
      const isNew =
        id !== defaultWorkspace &&
        (await desk.archive.createWorkspace(tenant, { id, name, description, createdAt: desk.clock.now() }))
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
    description: 'List the workspaces there are, and which one is current',
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run(_, work) {
      const current = await currentWorkspace(desk, work)
      // Made by its first use, but there from the beginning.
      await desk.archive.workspace(tenantOf(work), defaultWorkspace)
      const workspaces = await desk.archive.listWorkspaces(tenantOf(work))
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
    description: 'Switch to a workspace: calls on this connection that name none use it from now on',
    input: z.strictObject({ workspace_id: workspaceId }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async run({ workspace_id }, work) {
      const { id } = await workspaceFor(desk, work, workspace_id)
      await chooseWorkspace(work, id)
      return answer([`Current workspace: ${id}`], { workspace_id: id })
    },
  }),
  tool({
    name: 'get_current_workspace',
    title: 'Current workspace',
    description: 'Get the workspace that calls on this connection use',
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run(_, work) {
      const id = await currentWorkspace(desk, work)
      return answer([`Current workspace: ${id}`], { workspace_id: id })
    },
  }),
  tool({
    name: 'delete_workspace',
    title: 'Delete a workspace',
    description: 'Delete a workspace with everything in it. Without confirm it says what would be lost',
    input: z.strictObject({ workspace_id: workspaceId, confirm: z.boolean().default(false) }),
    annotations: { destructiveHint: true, openWorldHint: false },
    // As `clear_all` is: otherwise this would be the way round it. An empty one is nobody's loss.
    async approval({ workspace_id, confirm }, call) {
      if (!confirm || workspace_id === defaultWorkspace) return false
      const workspace = await desk.archive.workspace(tenantOf({ call }), workspace_id)
      return (
        workspace !== undefined &&
        ((await workspace.counts()).memories > 0 || (await workspace.graphCounts()).relations > 0)
      )
    },
    effect: async ({ workspace_id }, context) => contentsOf(await workspaceFor(desk, context, workspace_id)),
    async run({ workspace_id: id, confirm }, work) {
      if (id === defaultWorkspace) throw fail('The default workspace cannot be deleted; clear_all empties it.')
      const workspace = await workspaceFor(desk, work, id)
      const { memories, chunks } = await workspace.counts()
      if (!confirm)
        return answer(
          [
            `Warning: workspace ${id} holds ${counted(memories, 'memory', 'memories')} in ${counted(chunks, 'chunk', 'chunks')}.`,
            'Nothing was deleted. Call again with confirm: true to delete it with everything in it.',
          ],
          { workspace_id: id, deleted: false, memories, chunks },
        )
      if (!(await desk.archive.deleteWorkspace(tenantOf(work), id))) throw fail(`Workspace not found: ${id}`)
      // It is deleted, whatever happens now: an error would have the agent believe that it is still there.
      const hasLeft = await resetWorkspace(desk, work, id).then(
        () => true,
        () => false,
      )
      const note = hasLeft ? [] : ['Note: this connection still uses it. Choose another with set_current_workspace.']
      return answer([`Workspace deleted: ${id}`, `Memories: ${memories}`, ...note], {
        workspace_id: id,
        deleted: true,
        memories,
        chunks,
      })
    },
  }),
]
