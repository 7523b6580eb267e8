/** The server as a host runs it, with a temporary folder and the in-memory client. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'sluice'
import { memoryStore } from 'sluice'
import type { ApprovalsOptions } from 'sluice/approvals'
import { createApprovals } from 'sluice/approvals'
import { createServer } from 'sluice/node'
import { customLayer, log } from 'sluice/plugins'
import type { FakeClock, TestClient, TestClientOptions } from 'sluice/testing'
import { fakeClock, testClient } from 'sluice/testing'
import { onTestFinished } from 'vitest'
import { open } from '../src/index.ts'

type Revision = NonNullable<TestClientOptions['revision']>

export interface Answer {
  readonly isError?: boolean
  readonly content: readonly {
    readonly type: string
    readonly text?: string
    readonly resource?: { readonly text: string }
  }[]
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field and fails if it differs
  readonly structuredContent: any
}

export function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Noon, so that dates in tests are easy to read. */
export const noon: number = Date.parse('2026-03-01T12:00:00Z')

export interface OpenedMemory {
  readonly client: TestClient
  readonly clock: FakeClock
  readonly folder: string
  call(name: string, args?: object): Promise<Answer>
  text(name: string, args?: object): Promise<string>
  add(text: string, metadata?: object, more?: object): Promise<string>
  search(query: string, more?: object): Promise<readonly string[]>
  /** Another client of the same server. */
  another(revision?: Revision): Promise<OpenedMemory>
  close(): Promise<void>
}

export interface OpenOptions {
  readonly folder?: string
  readonly env?: Readonly<Record<string, string>>
  /** Gated tools are refused without it. */
  readonly approvals?: ApprovalsOptions
  readonly store?: Store
  /** One with a connection unless said. */
  readonly revision?: Revision
  readonly clock?: FakeClock
}

export async function openMemory({
  folder = aFolder(),
  env = {},
  revision = '2025-11-25',
  clock = fakeClock(noon),
  store = memoryStore(clock),
  approvals,
}: OpenOptions = {}): Promise<OpenedMemory> {
  const silent = { info() {}, warn() {}, error() {} }
  const opened = await open({ folder, env, clock, logger: silent })
  const server = createServer(opened.definition, {
    ...{ clock, store },
    use: [
      log(silent),
      ...(opened.layers ?? []).map(customLayer),
      approvals && createApprovals({ ...approvals, store, clock }),
    ],
  })
  const close = async (): Promise<void> => {
    await server.close()
    await opened.close()
  }
  onTestFinished(close)
  const withClient = async (revision: Revision): Promise<OpenedMemory> => {
    const client = await testClient(server, { revision })
    const call = async (name: string, args: object = {}): Promise<Answer> =>
      (await client.call(name, { ...args })) as unknown as Answer
    return {
      client,
      clock,
      folder,
      call,
      text: async (name, args) => textOf(await call(name, args)),
      add: async (text, metadata, more) =>
        (await call('add_memory', { text, ...(metadata && { metadata }), ...more })).structuredContent.memory_id,
      search: async (query, more) =>
        (await call('search_memory', { query, ...more })).structuredContent.results.map(
          ({ text }: { text: string }) => text,
        ),
      another: (revision = '2025-11-25') => withClient(revision),
      close,
    }
  }
  return withClient(revision)
}

export const textOf = ({ content }: Answer): string => content[0]?.text ?? ''
