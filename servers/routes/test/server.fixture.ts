/** The server as a host runs it, with a temporary folder and the in-memory client. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger, LogLine } from 'sluice'
import { createServer } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
import { fakeClock, testClient } from 'sluice/testing'
import { onTestFinished } from 'vitest'
import { startAtlas } from '../src/atlas/thread.ts'
import { openDatabase } from '../src/database.ts'
import { defineRoutes } from '../src/definition.ts'
import { createHistory } from '../src/history.ts'
import { offline } from '../src/providers/offline.ts'
import type { Provider } from '../src/route.ts'

export interface Answer {
  readonly isError?: boolean
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[]
  readonly structuredContent?: {
    readonly errors?: readonly { readonly code: string; readonly field?: string; readonly hint: string }[]
    readonly [key: string]: unknown
  }
}

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-routes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** One for all tests of a file, because it takes a second to start; it keeps no process alive. */
export const atlas = startAtlas(fakeClock())
export const places = offline(atlas)

export async function openRoutes({
  provider = places,
  folder = aFolder(),
}: {
  provider?: Provider
  folder?: string
} = {}) {
  const clock = fakeClock()
  const lines: LogLine[] = []
  const note = (line: LogLine): void => {
    lines.push(line)
  }
  const logger: Logger = { info: note, warn: note, error: note }
  const database = await openDatabase(folder, clock)
  const history = createHistory(database.sqlite, folder, clock, logger)
  const definition = defineRoutes({ provider, database, atlas }, history)
  const server = createServer(definition, { clock, use: [log(logger), customLayer(history.layer)] })
  const client = await testClient(server)
  let isOpen = true
  const close = (): void => {
    if (isOpen) database.close()
    isOpen = false
  }
  onTestFinished(close)
  const call = async (name: string, args: object): Promise<Answer> =>
    (await client.call(name, { ...args })) as unknown as Answer
  return { call, client, database, history, lines, folder, close, definition }
}

export const textOf = ({ content }: Answer): string => content.map(({ text = '' }) => text).join('\n')
export const codesOf = ({ structuredContent }: Answer): readonly string[] =>
  (structuredContent?.errors ?? []).map(({ code }) => code)
