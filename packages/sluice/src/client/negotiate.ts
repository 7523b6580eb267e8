/**
 * Which revision both sides speak: `server/discover` first, then the `initialize` handshake. The verdict is remembered
 * per server, so that the next connection asks once; a remembered verdict that was wrong is corrected.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */

import type { Era } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { RevisionName } from '../protocol/revisions.ts'
import { isLegacy, metaKeys, modernRevision, newestLegacy } from '../protocol/revisions.ts'
import { ClientError, errorCodes, ServerError } from './errors.ts'
import type { ClientSession } from './session.ts'
import type { Transport } from './transport.ts'

/** The outcome of the negotiation with a server. */
export interface ServerAgreement {
  readonly revision: RevisionName
  readonly era: Era
  /** The server's name and version, as it says. */
  readonly serverInfo: Params
  readonly capabilities: Params
  readonly instructions: string | undefined
  /** The whole result of `server/discover` or `initialize`. */
  readonly raw: Params
}

/** Remembers which era a server speaks. A `Map` is one. */
export interface EraMemory {
  get(server: string): Era | undefined
  set(server: string, era: Era): unknown
}

export interface NegotiateOptions {
  readonly session: ClientSession
  readonly transport: Transport
  readonly clientInfo: Params
  readonly capabilities: Params
  /** Only this revision is accepted. */
  readonly revision?: RevisionName | undefined
  /** Only this era is tried. */
  readonly era?: Era | undefined
  readonly eras?: EraMemory | undefined
  readonly timeoutMs: number
  /** How long `server/discover` may take. Some servers of earlier revisions never answer it. */
  readonly probeMs: number
  readonly signal?: AbortSignal | undefined
}

/** Agrees on a revision over an open transport. */
export async function negotiate(options: NegotiateOptions): Promise<ServerAgreement> {
  const { transport, eras } = options
  const order = orderOf(options, eras?.get(transport.server))
  let failure: unknown
  for (const [attempt, era] of order.entries()) {
    try {
      if (attempt > 0) await reopen(options, failure)
      const agreement = await (era === 'modern' ? discoverTwice : initialize)(options)
      eras?.set(transport.server, agreement.era)
      return agreement
    } catch (thrown) {
      transport.agreed(undefined)
      // The first refusal of an old server says less than the second, and a credential is missing in both eras.
      if (isFinal(thrown, options.signal)) throw thrown
      failure = thrown
    }
  }
  throw failure
}

function orderOf({ revision, era }: NegotiateOptions, known: Era | undefined): readonly Era[] {
  if (revision !== undefined) return [revision === modernRevision ? 'modern' : 'legacy']
  if (era !== undefined) return [era]
  return known === 'legacy' ? ['legacy', 'modern'] : ['modern', 'legacy']
}

/** Some servers end when they are asked something before `initialize`: a channel is then opened again. */
async function reopen(options: NegotiateOptions, failure: unknown): Promise<void> {
  const { session, transport } = options
  if (transport.abort || !(failure instanceof ClientError) || failure.reason !== 'closed') return
  await transport.close()
  await session.open(options)
}

function isFinal(thrown: unknown, signal: AbortSignal | undefined): boolean {
  if (signal?.aborted) return true
  if (thrown instanceof ServerError) return false
  if (!(thrown instanceof ClientError)) return true
  return ['unauthorized', 'refusedAddress', 'unreachable', 'cancelled'].includes(thrown.reason)
}

/** Returns the envelope that every request of 2026-07-28 carries. */
export const envelope = (clientInfo: Params, capabilities: Params): Params => ({
  [metaKeys.version]: modernRevision,
  [metaKeys.client]: clientInfo,
  [metaKeys.capabilities]: capabilities,
})

/** A server that refuses the version and yet lists it is asked again: it may have been updated while it was asked. */
async function discoverTwice(options: NegotiateOptions): Promise<ServerAgreement> {
  try {
    return await discover(options)
  } catch (thrown) {
    const data =
      thrown instanceof ServerError && thrown.code === errorCodes.unsupportedVersion ? thrown.data : undefined
    const supported = isObject(data) ? data['supported'] : undefined
    if (!Array.isArray(supported) || !supported.includes(modernRevision)) throw thrown
    return discover(options)
  }
}

async function discover(options: NegotiateOptions): Promise<ServerAgreement> {
  const { session, transport, clientInfo, capabilities, timeoutMs, probeMs, signal, revision } = options
  transport.agreed(modernRevision)
  session.allowQuestions(false)
  const raw = await session.ask(
    session.nextId(),
    'server/discover',
    { _meta: envelope(clientInfo, capabilities) },
    {
      signal,
      timeoutMs: revision === undefined && !transport.abort ? Math.min(probeMs, timeoutMs) : timeoutMs,
      headers: transport.mirrorsHeaders ? { 'mcp-method': 'server/discover' } : {},
    },
  )
  const versions = raw['supportedVersions']
  if (!Array.isArray(versions) || !versions.includes(modernRevision))
    throw new ClientError('unsupported', `The server does not speak ${modernRevision}`, { mayHaveRun: false })
  const meta = isObject(raw['_meta']) ? raw['_meta'] : {}
  return toAgreement(modernRevision, raw, meta[metaKeys.server])
}

async function initialize(options: NegotiateOptions): Promise<ServerAgreement> {
  const { session, transport, clientInfo, capabilities, timeoutMs, signal, revision = newestLegacy } = options
  // Otherwise the handshake would name a session that the server has lost.
  transport.agreed(undefined)
  session.allowQuestions(true)
  const raw = await session.ask(
    session.nextId(),
    'initialize',
    { protocolVersion: revision, capabilities, clientInfo },
    { signal, timeoutMs, cancellable: false },
  )
  const agreed = raw['protocolVersion']
  if (!isLegacy(agreed) || (options.revision !== undefined && agreed !== options.revision))
    throw new ClientError(
      'unsupported',
      `The server speaks ${String(agreed).slice(0, 32)}, which this client does not`,
      {
        mayHaveRun: false,
      },
    )
  transport.agreed(agreed)
  await session.notify('notifications/initialized', {})
  transport.listen?.()
  return toAgreement(agreed, raw, raw['serverInfo'])
}

const toAgreement = (revision: RevisionName, raw: Params, info: unknown): ServerAgreement => ({
  revision,
  era: revision === modernRevision ? 'modern' : 'legacy',
  serverInfo: isObject(info) ? info : {},
  capabilities: isObject(raw['capabilities']) ? raw['capabilities'] : {},
  instructions: typeof raw['instructions'] === 'string' ? raw['instructions'] : undefined,
  raw,
})

/** Refusals of 2026-07-28 that say nothing about the era. */
const modernRefusals = new Set([-32700, -32601, -32602, -32603, -32020, -32021])

/** Whether the request was refused unread, in a way that a new agreement could change: another session, another era. */
export function needsNewAgreement(thrown: unknown, { era }: ServerAgreement): boolean {
  if (thrown instanceof ClientError)
    return (
      thrown.reason === 'session' || (thrown.reason === 'status' && [400, 404, 405, 406].includes(thrown.status ?? 0))
    )
  if (!(thrown instanceof ServerError)) return false
  if (thrown.code === errorCodes.unsupportedVersion) return true
  return thrown.status === 400 && (era === 'legacy' || !modernRefusals.has(thrown.code))
}
