/**
 * The official clients behind one interface, so that one table of behaviours runs on all of them. It hides the
 * differences between the eras: a log level per connection or per call, `resources/subscribe` or
 * `subscriptions/listen`.
 */

import type { Inbox } from './inbox.ts'
import type { Params } from './protocol.ts'

export type { Params } from './protocol.ts'

/** How the user, the model and the client answer; each behaviour sets what it needs. */
export interface Answers {
  elicit(params: Params): Promise<ElicitAnswer> | ElicitAnswer
  sample(params: Params): SampleAnswer
  roots(): { uri: string; name?: string }[]
}
export interface ElicitAnswer {
  action: 'accept' | 'decline' | 'cancel'
  content?: { [field: string]: string | number | boolean | string[] }
}
export interface SampleAnswer {
  role: 'assistant'
  model: string
  content: { type: 'text'; text: string }
}

export interface CallOptions {
  onProgress?(progress: Params): void
  readonly signal?: AbortSignal
}
export type ListName = 'tools' | 'prompts' | 'resources' | 'templates'
export interface SubscriptionTargets {
  readonly lists?: readonly ('tools' | 'prompts' | 'resources')[]
  readonly uris?: readonly string[]
}

export interface OfficialClient {
  readonly revision: string | undefined
  readonly info: Params | undefined
  readonly capabilities: Params | undefined
  readonly instructions: string | undefined
  readonly sessionId: string | undefined
  readonly pid: number | undefined
  /** The code that its users see for a missing resource: v2 shows that of 2026-07-28 for both eras. */
  readonly notFoundCode: number
  /** Whether it opens the pages that an error of 2025-11-25 names, and then calls again. */
  readonly opensPages?: boolean
  readonly answers: Answers
  /** Notifications in order of arrival. */
  readonly received: Inbox<ReceivedNotification>
  /** All pages. */
  list(what: ListName): Promise<readonly Params[]>
  call(name: string, args?: Params, options?: CallOptions): Promise<Params>
  read(uri: string): Promise<Params>
  getPrompt(name: string, args?: { [name: string]: string }): Promise<Params>
  complete(ref: Reference, argument: CompletionArgument, chosen?: { [name: string]: string }): Promise<Params>
  setLogLevel(level: 'debug' | 'warning'): Promise<void>
  subscribe(what: SubscriptionTargets): Promise<Subscription>
  /** Ends the session if there is one, without closing the client. */
  endSession(): Promise<void>
  close(): Promise<void>
}
export interface Subscription {
  stop(): Promise<void>
  /** How it ended, if it is a separate subscription (2026-07-28). */
  readonly ended?: Promise<string>
}
export interface ReceivedNotification {
  readonly method: string
  readonly params: Params
}
export type Reference = { type: 'ref/prompt'; name: string } | { type: 'ref/resource'; uri: string }
export interface CompletionArgument {
  readonly name: string
  readonly value: string
}

/** The URL that the server listens on, or the program to start. */
export type ServerLocation =
  | { readonly transport: 'http' | 'sse' | 'websocket'; readonly url: string }
  | {
      readonly transport: 'stdio'
      readonly command: string
      readonly args: string[]
      readonly stderr?: 'ignore'
      readonly cwd?: string
      readonly env?: Record<string, string>
    }

export const clientInfo: { name: string; version: string } = { name: 'interop', version: '1.0.0' }
export const clientCapabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } }

const unexpected = (what: string) => (): never => {
  throw new Error(`This behaviour did not expect ${what}`)
}
export const createAnswers = (): Answers => ({
  elicit: unexpected('an elicitation'),
  sample: unexpected('a sampling request'),
  roots: unexpected('roots/list'),
})

/** Every notification a server may send. */
export const notifications = [
  'notifications/message',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
] as const

/**
 * Clients open the standalone stream after the handshake, and do not report when it is open. This fetch does, so that a
 * test does not change a list too early.
 */
export function streamAwareFetch(): { fetch: typeof fetch; readonly streaming: Promise<void> } {
  const streaming = Promise.withResolvers<void>()
  return {
    async fetch(input, init) {
      const response = await fetch(input, init)
      if (init?.method === 'GET') streaming.resolve()
      return response
    },
    streaming: streaming.promise,
  }
}

export interface Page {
  readonly items: readonly object[]
  readonly next: string | undefined
}
export type PageReader = (at: { cursor: string } | undefined) => Promise<Page>

export const pageOf = <R extends { nextCursor?: string | undefined }>(
  result: R,
  itemsOf: (result: R) => readonly object[],
): Page => ({ items: itemsOf(result), next: result.nextCursor })

/** Follows the cursors of a list to its end. */
export async function allPages(page: (cursor: string | undefined) => Promise<Page>): Promise<readonly Params[]> {
  const all: Params[] = []
  let cursor: string | undefined
  do {
    const { items, next } = await page(cursor)
    for (const item of items) all.push({ ...item })
    cursor = next
  } while (cursor !== undefined)
  return all
}
