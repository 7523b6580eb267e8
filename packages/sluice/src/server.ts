/** Puts a server together from a definition and plugins. The order of the layers is written here, once. */

import type { Bus } from './core/bus.ts'
import type { Layer, ServerEvent, Via } from './core/call.ts'
import { anonymous, listKinds, pipeline } from './core/call.ts'
import type { Clock } from './core/clock.ts'
import type { Connection } from './core/connection.ts'
import { bugOf, detailOf, reasonOf, toWire } from './core/error.ts'
import { createHub } from './core/hub.ts'
import { InFlight } from './core/in-flight.ts'
import type { LogLine } from './core/log.ts'
import type { NamedLayers } from './core/plugin.ts'
import type { Secret } from './core/secrets.ts'
import type { Stop } from './core/stop.ts'
import type { Store } from './core/store.ts'
import type { PluginList } from './install.ts'
import { install } from './install.ts'
import { authorizeLayer } from './layers/authorize.ts'
import { refuseIdempotencyKeys } from './layers/idempotency-key.ts'
import { observeLayer } from './layers/observe.ts'
import { refuseWithoutApprovals } from './layers/refuse-without-approvals.ts'
import { run } from './layers/run.ts'
import { ownerTenant } from './layers/tenant-registry.ts'
import type { RunningCalls, Stragglers } from './layers/timeout.ts'
import { timeoutLayer } from './layers/timeout.ts'
import { validateLayer } from './layers/validate.ts'
import { idOf, isOneWay } from './protocol/classify.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import { defineServer } from './protocol/definition.ts'
import type { MessageContext, Replies } from './protocol/dispatch.ts'
import { createDispatch, shuttingDown } from './protocol/dispatch.ts'
import type { ErrorStyle, Reply } from './protocol/encode.ts'
import { batchText, errorText } from './protocol/encode.ts'
import { featuresFor } from './protocol/message-header.ts'
import type { Registry } from './protocol/registry.ts'
import { compileRegistry } from './protocol/registry.ts'
import type { Send, TransportServer } from './protocol/server.ts'
import type { ToolPage } from './protocol/tools.ts'

const memoryVia: Via = { transport: 'memory', peer: '', header: () => undefined }

const memoryContext: MessageContext = { via: memoryVia }
/** Returns a complete context as it is: transports make one per call, whose methods need their object. */
const toContext = (context: Partial<MessageContext> = memoryContext): MessageContext =>
  isComplete(context) ? context : { ...context, via: memoryVia }
const isComplete = (context: Partial<MessageContext>): context is MessageContext => context.via !== undefined

/** What an operator decides for a server. */
export interface ServerOptions {
  /** Where state is kept. The portable `createServer` has none by default; that of `sluice/node` keeps it in memory. */
  readonly store?: Store | undefined
  readonly bus?: Bus | undefined
  readonly clock?: Clock | undefined
  /**
   * Seals what travels through clients. Two values while rotating: the first seals, both open. By default a random one is
   * made on first use, which is enough for one process and useless for two.
   */
  readonly secret?: Secret | undefined
  /** Plugins, in any order: each has its slot in the pipeline. */
  readonly use?: PluginList
  /** `json-rpc` gives clients before 2026-07-28 the codes of plain JSON-RPC servers instead of MCP's. */
  readonly errors?: ErrorStyle
  /** Entries on one page of a list: 500 by default. */
  readonly pageSize?: number
  /**
   * How many characters of JSON a tool, resource, prompt or completer may return: 4 Mi by default. Without a limit one
   * result of 400 MB ends the process. A longer result is answered with `resultTooLarge`.
   */
  readonly maxResultLength?: number
  /** How long a question to a client before 2026-07-28 may stay open: five minutes by default. */
  readonly answerWithinMs?: number
}

/** Runs a definition with the plugins of an operator. It keeps nothing without a store: `sluice/node` brings one. */
export function createServer(definition: ServerDefinition, options: ServerOptions = {}): TransportServer {
  const { errors = 'mcp', pageSize = 500, answerWithinMs = 300_000, maxResultLength = 4 * 1024 * 1024 } = options
  let phase: 'open' | 'draining' | 'closing' = 'open'
  const { store, bus, clock: ownClock, secret } = options
  const installed = install(options.use ?? [], {
    ...{ name: definition.name, store, bus, clock: ownClock, secret, closing: () => phase !== 'open' },
  })
  const { services, slots, custom } = installed
  for (const slot of definition.source?.needs ?? [])
    if (!slots[slot]) throw new TypeError(`${definition.name}: its rules need ${slot}(): add it to "use"`)
  const source = definition.source?.start(services, update)
  const all = source ? [...installed.all, source] : installed.all
  const { clock, logger, newErrorId, tenants } = services
  const shared = services.store.shared && { store: services.serverStore, bus: services.bus, name: services.name }
  const hub = (shared && services.store.shared?.(shared, clock)) ?? createHub(services.bus, services.name)
  const connections = new Set<Connection>()
  let exposed = false
  /** Lets each plugin veto the definition by throwing. */
  function assertAccepted(from: ServerDefinition, isExposed: boolean): void {
    const exposure = {
      exposed: isExposed,
      authenticated: slots.authenticate !== undefined,
      asksLegacy: slots.elicitation !== undefined,
    }
    for (const contribution of all) contribution.accepts?.(from, exposure)
  }
  function compiled(from: ServerDefinition): Registry {
    assertAccepted(from, exposed)
    const made = compileOne(from)
    return from.views?.extendRegistry(made, compileOne) ?? made
  }
  function compileOne(from: ServerDefinition): Registry {
    assertAskable(from, slots)
    const methods = all.flatMap((contribution) => contribution.methods ?? [])
    const made = compileRegistry(defineServer(from), { hub, pageSize, errors, methods })
    const extended = slots.tasks?.extendRegistry?.(made) ?? made
    return from.skills?.extendRegistry(extended, pageSize, from.listTtlMs) ?? extended
  }
  let current = withBrought(definition)
  let registry = compiled(current)

  const stragglers: Stragglers = { running: 0, late: 0 }
  const running: RunningCalls = new InFlight()
  const gauge = (name: string, help: string, read: () => number): unknown =>
    services.gauges.push({ name, help, type: 'gauge', read })
  gauge('sluice_stragglers', 'Work whose caller left.', () => stragglers.running)
  gauge('sluice_underway', 'Calls in flight.', () => running.size)
  gauge('sluice_connections', 'Connections.', () => connections.size)
  gauge('sluice_listeners', 'Listeners.', () => hub.listenerCount)

  const observers = withoutUndefined(all.map(({ observer }) => observer))
  const observe = observeLayer(observers, clock, newErrorId)
  const authorize = authorizeLayer((call) => registry.refusal(call))
  /** From the outside in. `rateLimit` stands before `authorize`, so that guessed names reach the limiter too. */
  const layers: NamedLayers = {
    tracing: slots.tracing?.layer,
    observe,
    authenticate: slots.authenticate?.layer,
    tenants: slots.tenants?.layer,
    resolve: resolveTarget,
    rateLimit: slots.rateLimit?.layer,
    authorize,
    timeout: timeoutLayer(clock, stragglers, running),
    tasks: slots.tasks?.createLayer?.({ ...{ slots, observe, authorize, running }, registry: () => registry }),
    concurrency: slots.concurrency?.layer,
    validate: validateLayer,
    ...Object.fromEntries(custom.map(({ layer }, at) => [`custom ${at + 1}`, layer])),
    upstreamSignIn: source?.layer,
    park: slots.park?.createLayer?.({ running }),
    elicitation: slots.elicitation?.layer,
    approvals: slots.approvals?.layer ?? refuseWithoutApprovals,
    startTask: slots.tasks?.startLayer,
    audit: slots.audit?.layer,
    idempotency: slots.idempotency?.layer ?? refuseIdempotencyKeys,
  }
  const modern = slots.console?.compose?.(layers, run) ?? pipeline(withoutUndefined(Object.values(layers)), run)
  const rejected = (line: LogLine): void => {
    for (const observer of observers) observer.rejected?.(line)
  }
  const dispatch = createDispatch({
    registry: () => registry,
    modern,
    bridged: pipeline(withoutUndefined([slots.elicitation?.legacyBridge(observers)]), modern),
    caller: anonymous,
    tenant: slots.tenants ? tenants.none : tenants.of(ownerTenant),
    publish: hub.publish,
    isShuttingDown: () => phase === 'closing',
    notified: slots.log?.observer?.notified,
    ...{ rejected, errors, newErrorId, maxResultLength },
  })

  function subscribe(connection: Connection, send: Send, after?: string): () => void {
    const listener = (event: ServerEvent, position: string): void =>
      connection.notify(event, (notification) => send(notification, position))
    return after === undefined ? hub.subscribe(listener) : hub.subscribeAfter(after, listener)
  }
  function update(definition: ServerDefinition): void {
    const changed = withBrought(definition)
    registry = compiled(changed)
    const before = current
    current = changed
    for (const kind of listKinds)
      if (entriesOf(before[kind]) !== entriesOf(changed[kind]) || before.views?.version !== changed.views?.version)
        hub.publish({ kind })
  }
  /** Calls that outlive a turn of the loop, and those on connections that wait for a person. Some are listed twice. */
  const calls = (): readonly Stop[] => [
    ...running,
    ...[...connections].flatMap(({ inFlight }) => [...inFlight.values()]),
  ]
  const toTexts = (replies: Replies): string | null =>
    replies && ('length' in replies ? batchText(replies, toText, newErrorId) : toText(replies))
  function toText(reply: Reply): string {
    try {
      return registry.encoder.toText(reply)
    } catch (thrown) {
      return errorText(reply.id, unprintable(thrown))
    }
  }
  /** A result that is not JSON (a BigInt, a cycle) is a bug of the tool. The caller still gets an answer. */
  function unprintable(thrown: unknown): ReturnType<typeof toWire> {
    const reference = newErrorId()
    logger.error({ event: 'unprintable', reference, ...bugOf(thrown) })
    return toWire(thrown, 'legacy', reference)
  }

  const server: TransportServer = {
    async handle(message, context) {
      const reply = await dispatch(message, toContext(context))
      const { encoder } = registry
      if (reply === null) return null
      return 'length' in reply ? reply.map(encoder.toObject) : encoder.toObject(reply)
    },
    handleText(message, context) {
      const replies = dispatch(message, toContext(context))
      return replies instanceof Promise ? replies.then(toTexts) : toTexts(replies)
    },
    reject(thrown, via, message) {
      const reference = newErrorId()
      const id = idOf(message)
      const { transport } = via
      rejected({ event: 'refused', id, reason: reasonOf(thrown), reference, transport, ...detailOf(thrown) })
      // An id that came with a response is not one that the client waits for.
      const answered = isOneWay(message) ? undefined : id
      return errorText(answered, toWire(thrown, featuresFor(message, via)?.era ?? 'legacy', reference))
    },
    attach(connection, send) {
      const unsubscribe = send && subscribe(connection, send)
      connections.add(connection)
      return () => {
        unsubscribe?.()
        connections.delete(connection)
      }
    },
    answerWithinMs,
    subscribe,
    async eventsReady() {
      await hub.ready()
    },
    shared,
    update,
    listChanged: (kind) => hub.publish({ kind }),
    assertSafeToExpose() {
      assertAccepted(current, true)
      exposed = true
    },
    async ready() {
      await Promise.all(all.map(async (contribution) => contribution.ready?.()))
    },
    definitionsReady: () => source?.ready?.(),
    resourceUpdated: (uri) => hub.publish({ kind: 'resource', uri }),
    logger,
    clock,
    authenticates: slots.authenticate !== undefined,
    exposes: slots.authenticate?.expose,
    gauges: services.gauges,
    async page(path, peer, query = '') {
      for (const { routes } of all) {
        const found = await routes?.(path, peer, query)
        if (found) return found
      }
      return undefined
    },
    async authorizeConnection(via, stop, method) {
      await slots.authenticate?.authorizeConnection(via, stop, method)
    },
    flush: slots.audit?.flush,
    drain() {
      phase = 'draining'
    },
    async shutDown(graceMs) {
      phase = 'closing'
      hub.closeSubscriptions()
      const until = clock.now() + graceMs
      while (calls().length > 0 && clock.now() < until)
        await new Promise<void>((resolve) => clock.after(pollMs, resolve))
      for (const stop of calls()) stop.stop(shuttingDown())
    },
    async close() {
      phase = 'closing'
      hub.closeSubscriptions()
      await hub.close()
      for (const connection of [...connections]) connection.close()
      await Promise.all(all.map(async (contribution) => contribution.close?.()))
    },
  }
  const { authenticate, tenants: tenancy } = slots
  slots.console?.attach?.({
    handle: server.handle,
    expandScopes: authenticate?.expandScopes,
    toolsOf: tenancy?.toolsOf,
    hasTenants: !!tenancy,
  })
  return server
}

/** Adds the resources that tools and skills bring: the pages of apps, and the files of skills. */
function withBrought(from: ServerDefinition): ServerDefinition {
  const { resources = [], tools = [], skills } = from
  const isListed = (page: ToolPage): boolean => resources.some(({ name }) => name === page.name)
  const pages = tools.flatMap(({ ui }) => (ui && 'kind' in ui && !isListed(ui) ? ui : []))
  const all = new Set([...resources, ...pages, ...(skills ? skills.resources : [])])
  return all.size > 0 ? { ...from, resources: [...all] } : from
}

/** How often a shutdown checks for calls in flight. */
const pollMs = 20

/** Fails at the start, because at the first question a person would already rely on the tool. */
function assertAskable(
  { tools = [], resources = [], prompts = [] }: ServerDefinition,
  slots: ReturnType<typeof install>['slots'],
): void {
  for (const { kind, name, asks, asksWhileRunning } of [...tools, ...resources, ...prompts]) {
    const missing =
      asks && !slots.elicitation ? 'elicitation' : asksWhileRunning === 'required' && !slots.park && 'park'
    if (missing) throw new TypeError(`${kind} "${name}" asks questions: add ${missing}() to "use"`)
  }
}

/**
 * Resolves URIs after authentication, so that strangers cannot make the server compare them with templates. Names that
 * callers see differently need the tenant too.
 */
const resolveTarget: Layer = (next) => (call) => next(call.resolve ? { ...call, target: call.resolve(call) } : call)

const withoutUndefined = <T>(values: readonly (T | undefined)[]): readonly T[] =>
  values.filter((value) => value !== undefined)

const entriesOf = (targets: ServerDefinition['tools' | 'prompts' | 'resources']): string =>
  JSON.stringify(targets?.map(({ entry, policy }) => [entry, policy]))
