/** The server as a host runs it, with tenants, in memory. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock, LogLine } from 'sluice'
import { apiKeys, authenticate, memoryStore, tenants } from 'sluice'
import { createServer, nodeClock } from 'sluice/node'
import { elicitation } from 'sluice/plugins'
import type { FakeClock } from 'sluice/testing'
import { fakeClock, testClient } from 'sluice/testing'
import { onTestFinished } from 'vitest'
import type { App } from '../src/app.ts'
import type { Archive } from '../src/archive.ts'
import { createArchive } from '../src/archive.ts'
import { defineFitness } from '../src/definition.ts'
import type { FileReader, FileReaderOptions } from '../src/files/reader.ts'
import { createFileReader } from '../src/files/reader.ts'
import { sqliteFile } from '../src/sqlite.ts'

export const now = Date.parse('2026-11-16T12:00:00Z')

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-fitness-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function anArchive(): Archive {
  const archive = createArchive(sqliteFile(join(aFolder(), 'fitness.db')))
  onTestFinished(() => archive.close())
  return archive
}

/** Uses the real clock, so that a test that parses works on a slow machine. */
export function aFileReader(options?: FileReaderOptions, clock: Clock = nodeClock): FileReader {
  const reader = createFileReader(clock, options)
  onTestFinished(() => reader.close())
  return reader
}

export type Result = {
  readonly isError?: boolean
  readonly content: readonly { readonly text: string }[]
  readonly structuredContent?: never
}

export async function openFitness(more: Partial<App> = {}, clock: FakeClock = fakeClock(now)) {
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const logger = { info: note, warn: note, error: note }
  const archive = more.archive ?? anArchive()
  const store = memoryStore(clock)
  const keys = apiKeys(store, { clock })
  const server = createServer(
    defineFitness({ archive, files: aFileReader(), strava: undefined, clock, logger, ...more }),
    {
      store,
      clock,
      use: [
        elicitation(),
        authenticate({
          verifiers: [keys],
          publicMethods: ['initialize', 'ping', 'server/discover', 'tools/list'],
        }),
        tenants({ claim: 'tenants' }),
      ],
    },
  )
  onTestFinished(() => server.close())
  const client = await testClient(server)
  async function as(
    name: string,
    tenantId = name,
  ): Promise<(tool: string, args?: object) => Promise<{ readonly [key: string]: never }>> {
    const { secret } = await keys.create({ subject: name, tenants: [tenantId] })
    return async (tool, args = {}) => {
      const result = await client.request('tools/call', {
        name: tool,
        arguments: { ...args },
        token: secret,
        _meta: { progressToken: 1 },
      })
      return { ...result } as never
    }
  }
  return { server, client, archive, clock, lines, as, alice: await as('alice') }
}

export const dataOf = (result: object): { readonly [key: string]: unknown } =>
  (result as { structuredContent: { readonly [key: string]: unknown } }).structuredContent
export const textOf = (result: object): string => (result as Result).content[0]?.text ?? ''
