/** Folders of Markdown that are deleted with their test. */

import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

export type FolderContents = { readonly [path: string]: string | Uint8Array }

export async function aFolder(files: FolderContents = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'knowledge-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeFiles(folder, files)
  return folder
}

/** Writes each file atomically, as careful editors do, so that no reader sees half of one. */
export async function writeFiles(folder: string, files: FolderContents): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, `${path}~`), text)
    await rename(join(folder, `${path}~`), join(folder, path))
  }
}

export const anArticle = (title: string, more = 'status: Live'): string =>
  `---\ntitle: ${title}\nlastUpdated: 2026-01-01\n${more}\n---\n\nAbout ${title.toLowerCase()}.\n`
