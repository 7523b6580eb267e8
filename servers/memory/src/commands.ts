/** The commands for whole workspaces: `sluice-memory export`, `import`, `graph` and `clear`. */

import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import type { Command } from 'sluice/main'
import { dataFolder, ownerTenant } from 'sluice/main'
import { nodeClock, readLines } from 'sluice/node'
import type { Archive, Workspace } from './archive.ts'
import { defaultWorkspace } from './archive.ts'
import { toGraphML, wholeGraph } from './graph.ts'
import { clearPhrase } from './inputs.ts'
import { archiveFrom } from './open.ts'
import { counted } from './tools/answer.ts'
import { exportPage, importLines } from './transfer.ts'

const options = {
  workspace: { type: 'string', default: defaultWorkspace },
  data: { type: 'string' },
  // A user who can read the file can read every tenant in it. Without a name, the owner's own tenant is used.
  tenant: { type: 'string', default: ownerTenant },
  format: { type: 'string', default: 'json' },
} as const

interface CommandOptions {
  readonly tenant: string
  readonly id: string
  readonly format: string
}

async function withArchive(
  argv: readonly string[],
  work: (archive: Archive, options: CommandOptions) => Promise<void>,
): Promise<void> {
  const { values } = parseArgs({ args: [...argv], options })
  const folder = dataFolder('sluice-memory', values.data)
  const archive = await archiveFrom({ folder, env: process.env, clock: nodeClock })
  try {
    await work(archive, { tenant: values.tenant, id: values.workspace, format: values.format })
  } finally {
    await archive.close()
  }
}

async function requireWorkspace(archive: Archive, { tenant, id }: CommandOptions): Promise<Workspace> {
  const workspace = await archive.workspace(tenant, id)
  if (workspace) return workspace
  const there = await archive.listWorkspaces(tenant)
  throw new Error(
    `Workspace ${id} does not exist. Existing workspaces: ${there.map(({ id }) => id).join(', ') || defaultWorkspace}`,
  )
}

/** Waits for a slow reader, because a pipe to a slow disk must not fill the memory. */
const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (failed) => (failed ? reject(failed) : resolve()))
  })

export const exportCommand: Command = {
  usage: ['[--workspace id] [--tenant id] > file.jsonl', 'write a workspace as JSON Lines'],
  run: (argv) =>
    withArchive(argv, async (archive, options) => {
      const workspace = await requireWorkspace(archive, options)
      let cursor: string | undefined
      do {
        const { lines, next } = await exportPage(workspace, cursor, 1024 * 1024)
        if (lines.length > 0) await write(`${lines.join('\n')}\n`)
        cursor = next
      } while (cursor !== undefined)
    }),
}

export const importCommand: Command = {
  usage: ['[--workspace id] [--tenant id] < file.jsonl', 'read JSON Lines into a workspace'],
  run: (argv) =>
    withArchive(argv, async (archive, options) => {
      const { tenant, id } = options
      await archive.createWorkspace(tenant, { id, name: id, description: '', createdAt: nodeClock.now() })
      const lines = readLines(process.stdin)
      const { memories, relations, duplicates, rejected } = await importLines(
        await requireWorkspace(archive, options),
        lines,
        () => nodeClock.now(),
      )
      process.stderr.write(
        `${counted(memories, 'memory', 'memories')} and ${counted(relations, 'relation', 'relations')} imported, ${duplicates} already existed\n`,
      )
      for (const why of rejected) process.stderr.write(`left out, ${why}\n`)
      if (rejected.length > 0) process.exitCode = 1
    }),
}

export const graphCommand: Command = {
  usage: ['[--format json|graphml] [--tenant id] > file', 'write entities and relations'],
  run: (argv) =>
    withArchive(argv, async (archive, options) => {
      const { format } = options
      if (format !== 'json' && format !== 'graphml')
        throw new Error(`--format must be json or graphml, not '${format}'`)
      const graph = await wholeGraph(await requireWorkspace(archive, options))
      await write(format === 'json' ? `${JSON.stringify(graph)}\n` : toGraphML(graph))
    }),
}

export const clearCommand: Command = {
  usage: ['[--workspace id] [--tenant id]', 'delete everything in a workspace; asks first'],
  run: (argv) =>
    withArchive(argv, async (archive, options) => {
      const workspace = await requireWorkspace(archive, options)
      const { memories } = await workspace.counts()
      process.stderr.write(
        `Workspace ${options.id} holds ${counted(memories, 'memory', 'memories')}. To delete everything in it, type ${clearPhrase}: `,
      )
      if ((await firstLine()).trim() !== clearPhrase) throw new Error('The phrase does not match; nothing was deleted.')
      await workspace.clear()
      process.stderr.write(`${counted(memories, 'memory', 'memories')} deleted\n`)
    }),
}

const firstLine = (): Promise<string> =>
  new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin })
    lines.once('line', (line) => {
      resolve(line)
      // A terminal never ends by itself, and would keep this process waiting for input.
      lines.close()
      process.stdin.unref?.()
    })
    lines.once('close', () => resolve(''))
  })
