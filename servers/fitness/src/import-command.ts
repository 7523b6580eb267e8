/** `sluice-fitness import`: imports files and folders into the log, with a progress bar. */

import { existsSync, readdirSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { dataFolder, ownerTenant } from 'sluice/main'
import { nodeClock } from 'sluice/node'
import { deleteSynthetic } from './app.ts'
import type { Source } from './files/import.ts'
import { importInto } from './files/import.ts'
import { createFileReader } from './files/reader.ts'
import { archiveFrom } from './open.ts'

export async function importCommand(argv: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: { data: { type: 'string' }, tenant: { type: 'string', default: ownerTenant } },
  })
  if (positionals.length === 0) throw new Error('Name files, ZIPs or folders: sluice-fitness import export.zip')
  const folder = dataFolder('sluice-fitness', values.data)
  const archive = await archiveFrom({ folder, env: process.env })
  const reader = createFileReader(nodeClock)
  try {
    const log = archive.forTenant(values.tenant)
    const before = await archive.tenants()
    const sources = positionals.flatMap(sourcesIn)
    const { added, known, nights, skipped } = await importInto(log, reader, sources, drawProgressBar)
    if (added + nights > 0) await deleteSynthetic(log)
    process.stderr.write(process.stderr.isTTY ? '\r\u001b[K' : '')
    const slept = nights === 0 ? '' : `, ${nights} new ${nights === 1 ? 'night' : 'nights'} of sleep`
    process.stdout.write(`${added} added, ${known} already known, ${skipped.length} left out${slept}\n`)
    const place = process.env['FITNESS_POSTGRES'] ? 'the database of FITNESS_POSTGRES' : folder
    process.stderr.write(`for tenant "${values.tenant}" in ${place}\n`)
    for (const line of hintsFor(values, before)) process.stderr.write(`${line}\n`)
    for (const why of skipped) process.stderr.write(`  ${withoutControlCharacters(why)}\n`)
  } finally {
    await reader.close()
    await archive.close()
  }
}

/** Imported data that no client sees looks lost, so the likely mistakes are named. */
function hintsFor(
  { tenant, data }: { readonly tenant: string; readonly data?: string | undefined },
  before: readonly string[],
): readonly string[] {
  const isNew = tenant !== ownerTenant && !before.includes(tenant)
  const isElsewhere =
    data === undefined && !process.env['SLUICE_DATA'] && existsSync(join('.sluice', 'servers', 'fitness'))
  return [
    ...(isNew
      ? [
          `Tenant "${withoutControlCharacters(tenant)}" had no data before; with data: ${before.map(withoutControlCharacters).join(', ') || 'none'}.`,
        ]
      : []),
    ...(isElsewhere
      ? [
          'The server that "sluice start" runs in this folder keeps its data in .sluice; to import for it, add --data .sluice.',
        ]
      : []),
  ]
}

function sourcesIn(path: string): readonly Source[] {
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found) throw new Error(`File or folder not found: ${path}`)
  if (!found.isDirectory()) return [{ name: path, read: () => readFile(path) }]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(fit|gpx|tcx|zip)(\.gz)?$|sleep.*\.json$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ name: file, read: () => readFile(file) }))
}

function drawProgressBar(done: number, total: number, name: string): void {
  if (!process.stderr.isTTY) return
  const width = 30
  const share = done / Math.max(1, total)
  const filled = Math.round(share * width)
  process.stderr.write(
    `\r\u001b[K${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${Math.round(share * 100)} % ${withoutControlCharacters(name.slice(-40))}`,
  )
}

/** Names come from untrusted archives, so control characters must not reach the terminal. */
const withoutControlCharacters = (text: string): string => text.replace(/\p{Cc}/gu, '?')
