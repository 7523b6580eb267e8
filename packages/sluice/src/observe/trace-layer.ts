/**
 * OpenTelemetry: one server span per message and the duration histogram, by the MCP conventions. It uses the API only;
 * the operator chooses the SDK.
 *
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 *
 * It is a layer instead of an observer, because the work must run inside the span's context. It is outside `observe`,
 * and reads in the facts what the inner layers found. It omits `baggage`, with which any client could write into data
 * that upstream services trust. It also omits `mcp.session.id`, which works as a credential, and arguments, results and
 * URIs as sent.
 */

import type { Attributes, Context, Histogram, Link, MeterProvider, Span, TracerProvider } from '@opentelemetry/api'
import {
  context,
  createTraceState,
  isSpanContextValid,
  metrics,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Answer } from '../core/answer.ts'
import { Prepared } from '../core/answer.ts'
import type { Call, Layer } from '../core/call.ts'
import type { Clock } from '../core/clock.ts'
import { codeOf, reasonOf } from '../core/error.ts'
import { lazy } from '../core/lazy.ts'
import { leavesAsResult } from '../protocol/encode.ts'
import { featuresOf } from '../protocol/revisions.ts'
import { messageOf } from './redact.ts'
import type { TraceContext } from './trace-context.ts'
import { contextInHeaders, contextInMeta } from './trace-context.ts'

/** The destinations of spans and durations. */
export interface TracingOptions {
  /** By default the providers registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider
  readonly meterProvider?: MeterProvider
}

const scope = 'sluice'
const seconds: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

export const traceLayer = ({ tracerProvider = trace, meterProvider }: TracingOptions, clock: Clock): Layer => {
  const tracer = tracerProvider.getTracer(scope)
  // On first use: unlike a tracer, a meter taken before the SDK was registered never records anything.
  const duration = lazy(
    (): Histogram =>
      (meterProvider ?? metrics).getMeter(scope).createHistogram('mcp.server.operation.duration', {
        unit: 's',
        description: 'MCP request duration as observed on the receiver',
        advice: { explicitBucketBoundaries: [...seconds] },
      }),
  )
  return (next) =>
    async function tracing(call) {
      const startedAt = clock.now()
      const { parent, links } = parentOf(call)
      const attributes: Attributes = { ...attributesOf(call), 'jsonrpc.request.id': String(call.id) }
      if (call.via.transport === 'http') attributes['client.address'] = call.via.peer
      const span = tracer.startSpan(nameOf(call), { kind: SpanKind.SERVER, attributes, links }, parent)
      const { traceId, spanId } = span.spanContext()
      if (isSpanContextValid(span.spanContext())) {
        call.facts['traceId'] = traceId
        call.facts['spanId'] = spanId
      }
      const end = (failure: Failure | undefined): void => {
        try {
          // A resource is resolved only after authentication.
          const attributes = attributesOf(call)
          span.setAttributes(attributes)
          if (failure) recordFailure(span, failure, call)
          const last = failure ? { ...attributes, 'error.type': failure.type, ...codeAttribute(failure) } : attributes
          duration().record((clock.now() - startedAt) / 1000, last)
          span.end()
        } catch {
          // A foreign exporter must not break an answer.
        }
      }
      try {
        const answer = await context.with(trace.setSpan(parent, span), () => next(call))
        end(isError(answer) ? toolError : undefined)
        return answer
      } catch (thrown) {
        end(failureOf(call, thrown))
        throw thrown
      }
    }
}

/**
 * Returns the parent span. The context in the message wins; the ambient span (for example an HTTP server's) is then
 * linked, as the conventions require. Otherwise the ambient span is the parent, because it is already a child of the
 * one in the header.
 */
function parentOf(call: Call): { readonly parent: Context; readonly links: Link[] } {
  const active = context.active()
  const ambient = trace.getSpanContext(active)
  const named = contextInMeta(call)
  if (named) return { parent: toRemoteContext(named), links: ambient ? [{ context: ambient }] : [] }
  if (ambient) return { parent: active, links: [] }
  const inHeaders = contextInHeaders(call)
  return { parent: inHeaders ? toRemoteContext(inHeaders) : active, links: [] }
}

const toRemoteContext = ({ traceId, spanId, flags, state }: TraceContext): Context =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  })

const hasName = ({ kind }: Call['target']): boolean => kind === 'tool' || kind === 'prompt'

/**
 * Returns the span name. It contains defined names only, because a client's names would make a series, and a span name,
 * for each.
 */
const nameOf = ({ method, target }: Call): string => (hasName(target) ? `${method} ${target.name}` : method)

function attributesOf({ method, revision, target, via }: Call): Attributes {
  const attributes: Attributes = { 'mcp.method.name': method, 'mcp.protocol.version': revision }
  if (via.transport === 'stdio') attributes['network.transport'] = 'pipe'
  else if (via.transport !== 'memory') {
    attributes['network.transport'] = 'tcp'
    attributes['network.protocol.name'] = via.transport
  }
  if (target.kind === 'prompt') attributes['gen_ai.prompt.name'] = target.name
  else if (target.kind === 'resource') attributes['mcp.resource.uri'] = target.name
  else if (target.kind === 'tool') {
    attributes['gen_ai.tool.name'] = target.name
    attributes['gen_ai.operation.name'] = 'execute_tool'
  }
  return attributes
}

interface Failure {
  readonly type: string
  /** The number in the JSON-RPC error. A tool's error result has none. */
  readonly code?: string
  readonly message?: string | undefined
}
const toolError: Failure = { type: 'tool_error' }
const isError = (answer: Answer): boolean => !(answer instanceof Prepared) && answer.isError === true

/**
 * Returns the failure with a code only if one was sent. A refusal may leave as a result, and a cancelled call has no
 * answer.
 */
function failureOf(call: Call, failure: unknown): Failure {
  // The reason of a stop wins over the error that the work threw because of it, as in the answer.
  const thrown = call.stop.reason ?? failure
  const reason = reasonOf(thrown)
  const message = messageOf(call, thrown)
  if (leavesAsResult(call.method, reason)) return { ...toolError, message }
  if (reason === 'cancelled') return { type: 'cancelled', message }
  const code = String(codeOf(reason, featuresOf(call.revision).era))
  return { type: code, code, message: message ?? (reason === 'internalError' ? 'Internal error' : undefined) }
}

const codeAttribute = ({ code }: Failure): Attributes =>
  code === undefined ? {} : { 'rpc.response.status_code': code }

function recordFailure(span: Span, failure: Failure, { facts }: Call): void {
  span.setStatus({ code: SpanStatusCode.ERROR, ...(failure.message !== undefined && { message: failure.message }) })
  span.setAttributes({ 'error.type': failure.type, ...codeAttribute(failure) })
  // The error id that the client and the log line have.
  if (facts.reference !== undefined) span.setAttribute('dev.sluice.reference', facts.reference)
}
