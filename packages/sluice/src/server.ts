/**
 * Puts it together: a definition and a runtime in, the two doors `handle` and `text` out. The order of the layers is
 * written here, once.
 */

import type { Bus } from './core/bus.ts'
import type { Layer, Via } from './core/call.ts'
import { anonymous, pipeline } from './core/call.ts'
import type { Clock } from './core/clock.ts'
import { systemClock } from './core/clock.ts'
import type { Connection } from './core/connection.ts'
import { createConnection } from './core/connection.ts'
import { bugOf, RpcError, toWire } from './core/error.ts'
import type { Logger } from './core/log.ts'
import { silent } from './core/log.ts'
import { createSeal } from './core/seal.ts'
import type { Secret } from './core/secrets.ts'
import { onEdge, secretsOf } from './core/secrets.ts'
import type { Store } from './core/store.ts'
import { below } from './core/store.ts'
import { approve } from './layers/approve.ts'
import { ask } from './layers/ask.ts'
import type { AuthenticateOptions } from './layers/authenticate.ts'
import { authenticate } from './layers/authenticate.ts'
import { authorize } from './layers/authorize.ts'
import type { ConcurrencyOptions } from './layers/concurrency.ts'
import { concurrency } from './layers/concurrency.ts'
import { createIdentify, unauthorized } from './layers/identities/identify.ts'
import { watch } from './layers/identities/watch.ts'
import type { LimitOptions } from './layers/limit.ts'
import { limit } from './layers/limit.ts'
import { observe } from './layers/observe.ts'
import type { OnceOptions } from './layers/once.ts'
import { once } from './layers/once.ts'
import { run } from './layers/run.ts'
import { createTake } from './layers/take.ts'
import type { TenantOptions } from './layers/tenant.ts'
import { tenant } from './layers/tenant.ts'
import { createTenants } from './layers/tenants.ts'
import type { Stragglers } from './layers/timeout.ts'
import { timeout } from './layers/timeout.ts'
import { validate } from './layers/validate.ts'
import type { AuditOptions } from './observe/audit.ts'
import { createAudit } from './observe/audit.ts'
import { refusals } from './observe/early.ts'
import { line } from './observe/line.ts'
import type { MetricsOptions } from './observe/metrics.ts'
import { createMetrics } from './observe/metrics.ts'
import type { HealthOptions } from './operate/health.ts'
import { createHealth } from './operate/health.ts'
import { idOf } from './protocol/classify.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import { defineServer } from './protocol/definition.ts'
import type { Context } from './protocol/dispatch.ts'
import { createDispatch, featuresFor } from './protocol/dispatch.ts'
import type { ErrorStyle, Reply } from './protocol/encode.ts'
import { errorText } from './protocol/encode.ts'
import { createHub } from './protocol/hub.ts'
import { bridge } from './protocol/legacy/bridge.ts'
import type { Registry } from './protocol/registry.ts'
import { compile } from './protocol/registry.ts'
import type { Server } from './protocol/server.ts'
import { hearOn } from './protocol/subscriptions.ts'
import { memoryStore } from './stores/memory.ts'
import { memoryBus } from './stores/memory-bus.ts'

/** What an operator decides. Built-in layers are options, not a list, so their order cannot be got wrong. */
export interface Runtime {
  readonly store?: Store
  readonly bus?: Bus
  readonly clock?: Clock
  /**
   * Seals what travels through clients. Several while rotating: the first seals, each opens. Left out, a random one is
   * made on first use: fine for one process, useless for two.
   */
  readonly secret?: Secret | undefined
  readonly logger?: Logger
  /** Who may call, by which credentials. Left out, everybody is `anonymous`. */
  readonly authenticate?: AuthenticateOptions
  /** For whom callers work. Left out, there is one tenant. */
  readonly tenant?: TenantOptions
  /** Rates per tenant, caller and target. Left out, there are none. */
  readonly limit?: LimitOptions
  /** Calls at once per tenant and tool. Left out, a noisy neighbour can take every slot. */
  readonly concurrency?: ConcurrencyOptions
  /** What is remembered of calls that bring an idempotency key. */
  readonly once?: Pick<OnceOptions, 'keepMs' | 'maxRecord'>
  /** OpenTelemetry: `(clock) => tracing({}, clock)` with `tracing` from `sluice/tracing`; handed in, so that only who traces carries its API. */
  readonly tracing?: (clock: Clock) => Layer
  /** Counters and histograms for `/metrics`. */
  readonly metrics?: true | MetricsOptions
  /** A hash-chained record of every call that ran or was refused, per tenant, in the store. */
  readonly audit?: true | AuditOptions
  /** Who may read `/healthz`, `/readyz` and `/metrics`: this machine alone unless said. */
  readonly readers?: HealthOptions['readers']
  /** Your own layers: they see validated calls, and nothing of theirs runs after an approval. */
  readonly layers?: readonly Layer[]
  /** `json-rpc` gives the codes of plain JSON-RPC servers instead of MCP's, to clients before 2026-07-28. */
  readonly errors?: ErrorStyle
  /** Entries on one page of a list. */
  readonly pageSize?: number
  /** How long a question to a client before 2026-07-28 may stay open. */
  readonly answerWithinMs?: number
}

const here: Via = { transport: 'memory', peer: '', header: () => undefined }

const nowhere: Context = { via: here }
/** Handed on as it is where it is whole: transports make one per call, with methods of their own. */
const toContext = (context: Partial<Context> = nowhere): Context =>
  isWhole(context) ? context : { ...context, via: here }
const isWhole = (context: Partial<Context>): context is Context => context.via !== undefined

export function createServer(definition: ServerDefinition, runtime: Runtime = {}): Server {
  const { clock = systemClock, logger = silent, errors = 'mcp', pageSize = 500, answerWithinMs = 300_000 } = runtime
  const store = runtime.store ?? memoryStore(clock)
  const hub = createHub(runtime.bus ?? memoryBus(), definition.info.name)
  const tenants = createTenants({ store, logger, clock })
  const connections = new Set<Connection>()
  const compiled = (from: ServerDefinition): Registry => compile(defineServer(from), { hub, pageSize, errors })
  let current = definition
  let registry = compiled(definition)

  const { name } = definition.info
  if (runtime.tenant && !runtime.authenticate)
    throw new TypeError('tenant needs authenticate: without it no caller has verified claims to take a tenant from')
  const metrics = runtime.metrics && createMetrics(runtime.metrics === true ? {} : runtime.metrics)
  const audit = runtime.audit && createAudit(store, clock, reference, runtime.audit === true ? {} : runtime.audit)
  const stragglers: Stragglers = { running: 0, late: 0 }
  if (metrics) {
    metrics.watch('sluice_stragglers', 'Work that goes on after its caller left.', 'gauge', () => stragglers.running)
    if (audit) metrics.watch('sluice_audit_dropped_total', 'Audit records lost.', 'counter', () => audit.dropped)
  }
  /** The audit first, so that the line can name its record. */
  const sinks = [audit?.sink, runtime.logger && line(logger), metrics?.sink].filter((sink) => sink !== undefined)
  const early = refusals(logger, metrics?.refused)
  const secrets = secretsOf(runtime.secret, { shared: store.shared === true, edge: onEdge() })
  const local = runtime.store ? memoryStore(clock) : store
  const own = below(store, ['server', name])
  const identify = runtime.authenticate && createIdentify(runtime.authenticate, clock)

  /** From the outside in. `limit` stands before `authorize`: guessed names must reach the limiter too. */
  const layers: readonly (Layer | undefined)[] = [
    runtime.tracing?.(clock),
    observe(sinks, clock, reference),
    runtime.authenticate && authenticate(runtime.authenticate, clock, identify),
    runtime.tenant && tenant(runtime.tenant, tenants),
    runtime.limit && limit(runtime.limit, createTake({ store, local, clock, logger })),
    authorize((call) => registry.refusal(call)),
    timeout(clock, stragglers),
    runtime.concurrency && concurrency(runtime.concurrency),
    validate,
    ...(runtime.layers ?? []),
    ask(createSeal(secrets, `state ${name}`, clock)),
    approve,
    audit?.started,
    once(own, { clock, logger, reference, ...runtime.once }),
  ]
  const modern = pipeline(
    layers.filter((layer) => layer !== undefined),
    run,
  )
  const dispatch = createDispatch({
    registry: () => registry,
    modern,
    bridged: pipeline([bridge], modern),
    caller: anonymous,
    tenant: runtime.tenant ? tenants.nobody : tenants.of('default'),
    publish: hub.publish,
    logger: early,
    ...{ errors, reference },
  })
  let closing = false
  const page = createHealth({
    clock,
    store,
    draining: () => closing,
    ...(metrics && { metrics: () => metrics.text() }),
    ...(runtime.readers && { readers: runtime.readers }),
  })

  function toText(reply: Reply): string {
    try {
      return registry.encoder.toText(reply)
    } catch (thrown) {
      return errorText(reply.id, unprintable(thrown))
    }
  }
  /** A result that is no JSON (a BigInt, a cycle) is a bug of the tool, and the caller still gets an answer. */
  function unprintable(thrown: unknown): ReturnType<typeof toWire> {
    const named = reference()
    logger.error({ event: 'unprintable', reference: named, ...bugOf(thrown) })
    return toWire(thrown, 'legacy', named)
  }

  return {
    async handle(message, context) {
      const reply = await dispatch(message, toContext(context))
      const { encoder } = registry
      if (reply === null) return null
      return 'length' in reply ? reply.map(encoder.toObject) : encoder.toObject(reply)
    },
    async text(message, context) {
      const reply = await dispatch(message, toContext(context))
      if (reply === null) return null
      return 'length' in reply ? `[${reply.map(toText).join(',')}]` : toText(reply)
    },
    refuse(thrown, via, message) {
      const named = reference()
      const reason = thrown instanceof RpcError ? thrown.reason : 'internalError'
      const why = thrown instanceof RpcError ? { message: thrown.message } : bugOf(thrown)
      early.warn({ event: 'refused', id: idOf(message), reason, reference: named, transport: via.transport, ...why })
      return errorText(idOf(message), toWire(thrown, featuresFor(message, via)?.era ?? 'legacy', named))
    },
    connect({ send, id = crypto.randomUUID() }) {
      const connection = createConnection({ id, send, clock, answerWithinMs, onClose: () => leave() })
      const silence = hub.subscribe((event) => hearOn(connection, event))
      const leave = (): void => {
        silence()
        connections.delete(connection)
      }
      connections.add(connection)
      return connection
    },
    update(changed) {
      registry = compiled(changed)
      const before = current
      current = changed
      for (const kind of ['tools', 'prompts', 'resources'] as const)
        if (entriesOf(before[kind]) !== entriesOf(changed[kind])) hub.publish({ kind })
    },
    updated: (uri) => hub.publish({ kind: 'resource', uri }),
    logger,
    clock,
    page,
    async admit(via, stop) {
      if (!identify) return
      const call = { via, params: {}, facts: {} }
      const caller = await identify(call)
      if (!caller) throw unauthorized({})
      if (stop) watch({ ...call, stop }, caller, identify, clock)
    },
    async close() {
      closing = true
      hub.close()
      for (const connection of [...connections]) connection.close()
      await audit?.close()
    },
  }
}

const entriesOf = (targets: ServerDefinition['tools' | 'prompts' | 'resources']): string =>
  JSON.stringify(targets?.map(({ entry, policy }) => [entry, policy]))

/** Short enough to read out, long enough not to repeat in a day's log. */
const reference = (): string => crypto.randomUUID().slice(0, 13)
