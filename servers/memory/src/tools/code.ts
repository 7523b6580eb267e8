/** `index_codebase` and `prune_memory`. Code is read only from folders that the operator allows. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Tool } from 'sluice'
import { fail, tool } from 'sluice'
import * as z from 'zod'
import type { App } from '../app.ts'
import { workspaceFor } from '../app.ts'
import type { Workspace } from '../archive.ts'
import { allowedFolder, findFiles } from '../code/files.ts'
import { codeMemories, indexCode } from '../code/index-code.ts'
import { languageNames } from '../code/languages.ts'
import { inWorkspace, shortText } from '../inputs.ts'
import { answer, counted } from './answer.ts'

/** Long enough for ten thousand files on a slow disk. */
const codeTimeoutMs = 10 * 60_000

export const indexTool = (app: App): Tool =>
  tool({
    name: 'index_codebase',
    title: 'Index code',
    description:
      'Store the functions and classes of a folder of source code as memories, so that search_memory finds them. Call it again after changes',
    input: z.strictObject({
      repo_path: shortText(4096).describe('The folder, inside one that the operator allows'),
      languages: z
        .array(z.enum(languageNames as [string, ...string[]]))
        .max(languageNames.length)
        .default([])
        .describe('Only these languages; all by default'),
      recursive: z.boolean().default(true),
      max_file_size: z
        .int()
        .min(1024)
        .max(10_485_760)
        .default(1_048_576)
        .describe('Larger files are left out, in bytes'),
      include_tests: z.boolean().default(false),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
    timeoutMs: codeTimeoutMs,
    async run({ repo_path, languages, recursive, max_file_size, include_tests, workspace_id }, context) {
      const workspace = await workspaceFor(app, context, workspace_id)
      const begun = app.clock.now()
      const folder = await allowedFolder(repo_path, app.codeFolders)
      if (folder === undefined)
        throw fail(
          `${repo_path} is not a folder that may be indexed. The operator names these folders in SLUICE_MEMORY_CODE: ${app.codeFolders.join(', ')}.`,
        )
      const { files, tooLarge, isTruncated } = await findFiles(folder, {
        ...{ languages, recursive, maxFileSize: max_file_size, includeTests: include_tests },
      })
      const { signal, progress } = context
      const indexed = await indexCode(workspace, folder, files, { now: app.clock.now(), signal, progress })
      const note = await app.catchUp?.waitFor(workspace)
      const took = app.clock.now() - begun
      const warnings = [
        ...(indexed.stale > 0
          ? [
              `${counted(indexed.stale, 'memory is', 'memories are')} about files that were not found this time; prune_memory with strategy stale_code removes those of deleted files.`,
            ]
          : []),
        ...(tooLarge > 0
          ? [`${counted(tooLarge, 'file is', 'files are')} larger than max_file_size and left out.`]
          : []),
        ...(isTruncated ? [`Only the first ${files.length} files were indexed; name a smaller folder.`] : []),
        ...(note ? [`${note} Until then the new code is found by its words.`] : []),
      ]
      return answer(
        [
          files.length === 0 ? 'No source files found.' : 'Code indexed successfully.',
          `Folder: ${folder}`,
          `Files: ${indexed.files}`,
          `Functions: ${indexed.functions}`,
          `Classes: ${indexed.classes}`,
          `Calls: ${indexed.calls}`,
          `Languages: ${
            Object.entries(indexed.languages)
              .map(([name, count]) => `${name} (${count})`)
              .join(', ') || 'none'
          }`,
          `Lines: ${indexed.lines.toLocaleString('en-US')}`,
          `Memories: ${indexed.added} added, ${indexed.unchanged} unchanged, ${indexed.removed} removed`,
          `Processing time: ${took} ms`,
          ...warnings.map((warning) => `Note: ${warning}`),
        ],
        {
          workspace_id: workspace.id,
          repo_path: folder,
          files_indexed: indexed.files,
          functions: indexed.functions,
          classes: indexed.classes,
          calls: indexed.calls,
          languages: indexed.languages,
          total_lines: indexed.lines,
          memories_added: indexed.added,
          memories_unchanged: indexed.unchanged,
          memories_removed: indexed.removed,
          stale_memories: indexed.stale,
          processing_time_ms: took,
          notes: warnings,
        },
      )
    },
  })

export const pruneTool = (app: App): Tool =>
  tool({
    name: 'prune_memory',
    title: 'Remove what is stale',
    description:
      'Remove the code of files that no longer exist, and entities without relations. By default it only says what it would remove',
    input: z.strictObject({
      strategy: z.enum(['stale_code', 'orphaned_chunks', 'orphaned_entities', 'all']).default('all'),
      dry_run: z.boolean().default(true).describe('Only say what would be removed'),
      confirm: z.boolean().default(false).describe('Must be true if dry_run is false'),
      workspace_id: inWorkspace,
    }),
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    timeoutMs: codeTimeoutMs,
    async run({ strategy, dry_run, confirm, workspace_id }, context) {
      if (!dry_run && !confirm) throw fail('confirm must be true: what is removed cannot be restored.')
      const workspace = await workspaceFor(app, context, workspace_id)
      const isWanted = (one: typeof strategy): boolean => strategy === one || strategy === 'all'
      const stale = isWanted('stale_code') ? await staleCode(app, workspace) : []
      if (!dry_run)
        for (const [at, { id }] of stale.entries()) {
          context.signal.throwIfAborted()
          await workspace.delete(id)
          context.progress(at + 1, stale.length)
        }
      const entities = isWanted('orphaned_entities') ? await workspace.deleteUnrelated(dry_run) : 0
      const samples = stale.slice(0, 10).map(({ file }) => file)
      return answer(
        [
          dry_run ? 'Nothing was removed. These would be:' : 'Removed:',
          ...(isWanted('stale_code') ? [`Code of files that no longer exist: ${stale.length}`] : []),
          ...[...new Set(samples)].map((file) => `- ${file}`),
          // A chunk is stored and deleted in one transaction with its memory.
          ...(isWanted('orphaned_chunks') ? ['Chunks without a memory: 0 (this store cannot have any)'] : []),
          ...(isWanted('orphaned_entities') ? [`Entities without relations: ${entities}`] : []),
          ...(dry_run && stale.length + entities > 0
            ? ['Call again with dry_run: false and confirm: true to remove them.']
            : []),
        ],
        {
          ...{ workspace_id: workspace.id, strategy, dry_run },
          ...(isWanted('stale_code') && { stale_code: stale.length, files: [...new Set(samples)] }),
          ...(isWanted('orphaned_chunks') && { orphaned_chunks: 0 }),
          ...(isWanted('orphaned_entities') && { orphaned_entities: entities }),
        },
      )
    },
  })

/** Returns the code of deleted files. A folder that does not exist may only be unavailable, so its code stays. */
async function staleCode(
  app: App,
  workspace: Workspace,
): Promise<readonly { readonly id: string; readonly file: string }[]> {
  const allowed = new Map<string, boolean>()
  const stale: { readonly id: string; readonly file: string }[] = []
  for await (const { memory, repository, file } of codeMemories(workspace)) {
    const isAllowed = allowed.get(repository) ?? (await allowedFolder(repository, app.codeFolders)) !== undefined
    allowed.set(repository, isAllowed)
    if (isAllowed && !existsSync(join(repository, file))) stale.push({ id: memory.id, file: join(repository, file) })
  }
  return stale
}
