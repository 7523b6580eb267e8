/** A runtime: what an operator decides for a server, and the parts made of it. */

import type { Bus } from './core/bus.ts'
import type { Layer } from './core/call.ts'
import type { Clock } from './core/clock.ts'
import type { Logger } from './core/log.ts'
import type { Part, Piece, Surroundings } from './core/part.ts'
import type { Secret } from './core/secrets.ts'
import type { Store } from './core/store.ts'
import type { ErrorStyle } from './protocol/encode.ts'
import { surroundings } from './surroundings.ts'

/** What an operator decides. Parts have a place each instead of being a list, so their order cannot be got wrong. */
export interface Runtime {
  /** Left out, everything is kept in this process and gone with it. */
  readonly store?: Store
  readonly bus?: Bus
  readonly clock?: Clock
  /**
   * Seals what travels through clients. Several while rotating: the first seals, each opens. Left out, a random one is
   * made on first use: fine for one process, useless for two.
   */
  readonly secret?: Secret | undefined
  readonly log?: Part<'log'>
  readonly tracing?: Part<'tracing'>
  readonly metrics?: Part<'metrics'>
  readonly health?: Part<'health'>
  readonly authenticate?: Part<'authenticate'>
  readonly tenant?: Part<'tenant'>
  readonly limit?: Part<'limit'>
  readonly concurrency?: Part<'concurrency'>
  readonly ask?: Part<'ask'>
  readonly approvals?: Part<'approvals'>
  readonly audit?: Part<'audit'>
  readonly once?: Part<'once'>
  readonly console?: Part<'console'>
  /** Your own layers: they see validated calls, and nothing of theirs runs after an approval. */
  readonly layers?: readonly Layer[]
  /** `json-rpc` gives the codes of plain JSON-RPC servers instead of MCP's, to clients before 2026-07-28. */
  readonly errors?: ErrorStyle
  /** Entries on one page of a list. */
  readonly pageSize?: number
  /**
   * How many characters of JSON a tool, resource, prompt or completer may return: 4 Mi by default. Without a limit one
   * result of 400 MB takes the process down. Past it the caller gets `resultTooLarge`.
   */
  readonly maxResultLength?: number
  /** How long a question to a client before 2026-07-28 may stay open. */
  readonly answerWithinMs?: number
}

type PartName = {
  [name in keyof Runtime]-?: NonNullable<Runtime[name]> extends Part<string> ? name : never
}[keyof Runtime]
export type Pieces = { [name in PartName]?: Piece }

/** In the order in which they are told of a message: the audit first, so that the line can name its record. */
const partNames: readonly PartName[] = [
  ...(['audit', 'log', 'metrics', 'tracing', 'health', 'authenticate'] as const),
  ...(['tenant', 'limit', 'concurrency', 'ask', 'approvals', 'once', 'console'] as const),
]

/** Makes the parts. They may write to the log and the audit, which are parts themselves. */
export function assemble(
  name: string,
  runtime: Runtime,
  closing: () => boolean,
): { around: Surroundings; pieces: Pieces } {
  if (runtime.tenant && !runtime.authenticate)
    throw new TypeError('tenant needs authenticate: without it no caller has verified claims to take a tenant from')
  if (runtime.approvals && !runtime.once)
    throw new TypeError(
      'approvals need once, by which a ticket is spent: add once: once() to the options of createServer',
    )
  const pieces: Pieces = {}
  const logger: Logger = {
    info: (line) => pieces.log?.logger?.info(line),
    warn: (line) => pieces.log?.logger?.warn(line),
    error: (line) => pieces.log?.logger?.error(line),
  }
  const { store, bus, clock, secret } = runtime
  const record: Surroundings['record'] = (tenant, kind, fields) => pieces.audit?.record?.(tenant, kind, fields)
  const around = surroundings({ name, store, bus, clock, secret, logger, closing, record })
  for (const each of partNames) {
    const make: unknown = runtime[each]
    if (make === undefined) continue
    const piece: Piece | undefined = typeof make === 'function' ? make(around) : undefined
    if (piece?.part !== each) throw new TypeError(`${each}: this takes a part, so write ${each}: ${each}({ … })`)
    pieces[each] = piece
  }
  return { around, pieces }
}
