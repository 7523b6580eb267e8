/**
 * The trace that a client assigns to a call: `traceparent` in `_meta`, or else in the HTTP header.
 *
 * https://www.w3.org/TR/trace-context/ — `_meta` wins, because one HTTP request may carry several messages.
 */

import type { Call } from '../core/call.ts'
import { newSpanId, newTraceId } from './ids.ts'

export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
  readonly state: string | undefined
}

const traceparentPattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/
const maxStateLength = 512

function parse(parent: unknown, state: unknown): TraceContext | undefined {
  if (typeof parent !== 'string' || parent.length < 55 || parent.length > maxStateLength) return undefined
  const found = traceparentPattern.exec(parent)
  // Version 00 ends here. Later versions may add fields, which are ignored.
  if (!found || (parent.startsWith('00') && parent.length > 55)) return undefined
  const [, traceId = '', spanId = '', flags = ''] = found
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16),
    state: typeof state === 'string' && state.length <= maxStateLength ? state : undefined,
  }
}

export const contextInMeta = ({ meta }: Call): TraceContext | undefined =>
  meta['traceparent'] === undefined ? undefined : parse(meta['traceparent'], meta['tracestate'])

export function contextInHeaders({ via }: Call): TraceContext | undefined {
  const parent = via.header('traceparent')
  return parent === undefined ? undefined : parse(parent, via.header('tracestate'))
}

/**
 * Sets the trace and span of a call in its facts: those of its span if spans are made, else the client's, else new ones.
 * Returns whether they are new. New ids are hexadecimal digits, whatever the layers put into the facts.
 */
export function setTraceFacts(call: Call): boolean {
  const { facts } = call
  if (facts['traceId'] !== undefined) return false
  const fromClient = contextInMeta(call) ?? contextInHeaders(call)
  facts['traceId'] = fromClient?.traceId ?? newTraceId()
  facts['spanId'] = fromClient?.spanId ?? newSpanId()
  return !fromClient
}

/** Returns the trace of the call's own span if spans are made, else the one that the client named. */
export const traceIdOf = (call: Call): string | undefined =>
  (call.facts['traceId'] as string | undefined) ?? (contextInMeta(call) ?? contextInHeaders(call))?.traceId
