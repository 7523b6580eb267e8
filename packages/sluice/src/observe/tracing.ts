/**
 * OpenTelemetry: one server span per message and the duration histogram, in the words of the MCP conventions, through
 * the API alone; which SDK is behind it, if any, is the operator's business.
 *
 * https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md
 *
 * A layer and not a sink, since the work must run inside the span's context. It stands outside `observe`, and reads in
 * the facts what that one found out. Left out: `baggage`, by which any client could write into what upstream services
 * trust; `mcp.session.id`, which whoever holds it can use; arguments, results and URIs as sent.
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
import { codeOf, RpcError } from '../core/error.ts'
import { lazy } from '../core/lazy.ts'
import type { SlotPlugin } from '../core/plugin.ts'
import { leavesAsResult } from '../protocol/encode.ts'
import { featuresOf } from '../protocol/revisions.ts'
import { messageOf } from './redact.ts'
import type { TraceContext } from './trace-context.ts'
import { contextInHeaders, contextInMeta } from './trace-context.ts'

/** Where spans and durations go. */
export interface TracingOptions {
  /** Left out, the ones registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider
  readonly meterProvider?: MeterProvider
}

const scope = 'sluice'
const seconds: readonly number[] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** A span per message by OpenTelemetry’s conventions for MCP, below the caller’s own where it names one. */
export const tracing = (options: TracingOptions = {}): SlotPlugin<'tracing'> => ({
  slot: 'tracing',
  create: ({ clock }) => ({ layer: traceLayer(options, clock) }),
})

/** The same as a layer, for pipelines of one’s own. */
export const traceLayer = ({ tracerProvider = trace, meterProvider }: TracingOptions, clock: Clock): Layer => {
  const tracer = tracerProvider.getTracer(scope)
  // On first use: a meter taken before the SDK was registered stays deaf for ever, unlike a tracer.
  const duration = lazy(
    (): Histogram =>
      (meterProvider ?? metrics).getMeter(scope).createHistogram('mcp.server.operation.duration', {
        unit: 's',
        description: 'MCP request duration as observed on the receiver',
        advice: { explicitBucketBoundaries: [...seconds] },
      }),
  )
  return (next) =>
    function tracing(call) {
      const began = clock.now()
      const { parent, links } = parentOf(call)
      const own: Attributes = { ...attributesOf(call), 'jsonrpc.request.id': String(call.id) }
      if (call.via.transport === 'http') own['client.address'] = call.via.peer
      const span = tracer.startSpan(nameOf(call), { kind: SpanKind.SERVER, attributes: own, links }, parent)
      const { traceId, spanId } = span.spanContext()
      if (isSpanContextValid(span.spanContext())) {
        call.facts['traceId'] = traceId
        call.facts['spanId'] = spanId
      }
      const end = (failure: Failure | undefined): void => {
        try {
          // A resource is found only after authentication.
          const about = attributesOf(call)
          span.setAttributes(about)
          if (failure) recordFailure(span, failure, call)
          const last = failure ? { ...about, 'error.type': failure.type, ...codeAttribute(failure) } : about
          duration().record((clock.now() - began) / 1000, last)
          span.end()
        } catch {
          // Somebody else's exporter must not take an answer with it.
        }
      }
      return context
        .with(trace.setSpan(parent, span), () => next(call))
        .then(
          (answer) => {
            end(isError(answer) ? toolError : undefined)
            return answer
          },
          (thrown) => {
            end(failureOf(call, thrown))
            throw thrown
          },
        )
    }
}

/**
 * By the message's own word first. The ambient span (an HTTP server's, say) is then linked, as the conventions ask;
 * otherwise it is the parent, being already a child of what the header names.
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

/** Only names somebody defined: a client's own would make a series, and a span name, for each. */
const nameOf = ({ method, target }: Call): string => (hasName(target) ? `${method} ${target.name}` : method)

function attributesOf({ method, revision, target, via }: Call): Attributes {
  const about: Attributes = { 'mcp.method.name': method, 'mcp.protocol.version': revision }
  if (via.transport === 'stdio') about['network.transport'] = 'pipe'
  else if (via.transport !== 'memory') {
    about['network.transport'] = 'tcp'
    about['network.protocol.name'] = via.transport
  }
  if (target.kind === 'prompt') about['gen_ai.prompt.name'] = target.name
  else if (target.kind === 'resource') about['mcp.resource.uri'] = target.name
  else if (target.kind === 'tool') {
    about['gen_ai.tool.name'] = target.name
    about['gen_ai.operation.name'] = 'execute_tool'
  }
  return about
}

interface Failure {
  readonly type: string
  /** The number in the JSON-RPC error; a tool's error result has none. */
  readonly code?: string
  readonly message?: string | undefined
}
const toolError: Failure = { type: 'tool_error' }
const isError = (answer: Answer): boolean => !(answer instanceof Prepared) && answer.isError === true

/** Only a code that was sent: a refusal may leave as a result, and a cancelled call has no answer. */
function failureOf(call: Call, failure: unknown): Failure {
  // As on the way out: the reason a call was stopped for, whatever its work threw because of it.
  const thrown = call.stop.reason ?? failure
  const reason = thrown instanceof RpcError ? thrown.reason : 'internalError'
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
  // The name the client and the log line have for it.
  if (facts.reference !== undefined) span.setAttribute('dev.sluice.reference', facts.reference)
}
