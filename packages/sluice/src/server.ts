/**
 * Puts it together: a definition and a runtime in, the two doors `handle` and `text` out. The order of the layers is
 * written here, once.
 */

import type { Layer, ServerEvent, Via } from './core/call.ts'
import { anonymous, pipeline } from './core/call.ts'
import type { Connection } from './core/connection.ts'
import { bugOf, RpcError, toWire } from './core/error.ts'
import { createHub } from './core/hub.ts'
import type { Params } from './core/json.ts'
import type { LogLine } from './core/log.ts'
import type { Stop } from './core/stop.ts'
import { authorize } from './layers/authorize.ts'
import { refuseIdempotencyKeys } from './layers/idempotency-key.ts'
import { observe } from './layers/observe.ts'
import { refuseWithoutApprovals } from './layers/refuse-without-approvals.ts'
import { run } from './layers/run.ts'
import { ownerTenant } from './layers/tenant-registry.ts'
import type { RunningCalls, Stragglers } from './layers/timeout.ts'
import { timeout } from './layers/timeout.ts'
import { validate } from './layers/validate.ts'
import { idOf, isOneWay } from './protocol/classify.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import { defineServer } from './protocol/definition.ts'
import type { MessageContext } from './protocol/dispatch.ts'
import { createDispatch, featuresFor, shuttingDown } from './protocol/dispatch.ts'
import type { Reply } from './protocol/encode.ts'
import { batchText, errorText } from './protocol/encode.ts'
import type { Registry } from './protocol/registry.ts'
import { compileRegistry } from './protocol/registry.ts'
import type { Server } from './protocol/server.ts'
import { notificationFor } from './protocol/subscriptions.ts'
import type { Runtime } from './runtime.ts'
import { assemble } from './runtime.ts'

export type { Runtime } from './runtime.ts'

const memoryVia: Via = { transport: 'memory', peer: '', header: () => undefined }

const memoryContext: MessageContext = { via: memoryVia }
/** Handed on as it is where it is whole: transports make one per call, with methods of their own. */
const toContext = (context: Partial<MessageContext> = memoryContext): MessageContext =>
  isComplete(context) ? context : { ...context, via: memoryVia }
const isComplete = (context: Partial<MessageContext>): context is MessageContext => context.via !== undefined

/** Runs a definition with the parts an operator hands in. Without `store` nothing can be kept: `sluice/node` brings one. */
export function createServer(definition: ServerDefinition, runtime: Runtime = {}): Server {
  const { errors = 'mcp', pageSize = 500, answerWithinMs = 300_000, maxResultLength = 4 * 1024 * 1024 } = runtime
  let phase: 'open' | 'draining' | 'leaving' = 'open'
  const { around, pieces } = assemble(definition.info.name, runtime, () => phase !== 'open')
  const { clock, logger, reference, tenants } = around
  const all = Object.values(pieces)
  const shared = around.store.shared && { store: around.own, bus: around.bus, name: around.name }
  const hub = (shared && around.store.shared?.(shared, clock)) ?? createHub(around.bus, around.name)
  const connections = new Set<Connection>()
  let exposed = false
  /** They may refuse it. */
  function tell(from: ServerDefinition, isExposed: boolean): void {
    const to = { exposed: isExposed, authenticated: runtime.authenticate !== undefined }
    for (const piece of all) piece.defined?.(from, to)
  }
  function compiled(from: ServerDefinition): Registry {
    if (!runtime.ask) assertNoQuestions(from)
    tell(from, exposed)
    return compileRegistry(defineServer(from), {
      hub,
      pageSize,
      errors,
      methods: all.flatMap((piece) => piece.methods ?? []),
    })
  }
  let current = definition
  let registry = compiled(definition)

  const stragglers: Stragglers = { running: 0, late: 0 }
  const underway: RunningCalls = new Set()
  const gauge = (name: string, help: string, read: () => number): unknown =>
    around.counts.push({ name, help, type: 'gauge', read })
  gauge('sluice_stragglers', 'Work whose caller left.', () => stragglers.running)
  gauge('sluice_underway', 'Calls under way.', () => underway.size)
  gauge('sluice_connections', 'Connections.', () => connections.size)
  gauge('sluice_listeners', 'Listeners.', () => hub.listenerCount)

  const sinks = withoutUndefined(all.map(({ sink }) => sink))
  /** From the outside in. `limit` stands before `authorize`: guessed names must reach the limiter too. */
  const layers: readonly (Layer | undefined)[] = [
    pieces.tracing?.layer,
    observe(sinks, clock, reference, pieces.log?.arrived),
    pieces.authenticate?.layer,
    resolveTarget,
    pieces.tenant?.layer,
    pieces.limit?.layer,
    authorize((call) => registry.refusal(call)),
    timeout(clock, stragglers, underway),
    pieces.concurrency?.layer,
    validate,
    ...(runtime.layers ?? []),
    pieces.ask?.layer,
    pieces.approvals?.layer ?? refuseWithoutApprovals,
    pieces.audit?.layer,
    pieces.once?.layer ?? refuseIdempotencyKeys,
  ]
  const modern = pipeline(withoutUndefined(layers), run)
  const refused = (line: LogLine): void => {
    for (const piece of all) piece.refused?.(line)
  }
  const dispatch = createDispatch({
    registry: () => registry,
    modern,
    bridged: pipeline(withoutUndefined([pieces.ask?.bridge?.(sinks)]), modern),
    caller: anonymous,
    tenant: runtime.tenant ? tenants.nobody : tenants.of(ownerTenant),
    publish: hub.publish,
    isShuttingDown: () => phase === 'leaving',
    notified: pieces.log?.notified,
    ...{ rejected: refused, errors, newErrorId: reference, maxResultLength },
  })

  function hear(connection: Connection, send: (news: Params, position: string) => void, after?: string): () => void {
    const pass = (event: ServerEvent, position: string): void => {
      if (connection.pendingSync) {
        const then = (): void => say(event, position)
        connection.pendingSync.then(then, then)
        return
      }
      say(event, position)
    }
    const say = (event: ServerEvent, position: string): void => {
      const news = notificationFor(connection, event)
      if (news && !connection.closed) send(news, position)
    }
    return after === undefined ? hub.subscribe(pass) : hub.subscribeAfter(after, pass)
  }
  /** Under way, as far as they take longer than a turn; on connections also those that wait for a person. Some twice. */
  const calls = (): readonly Stop[] => [
    ...underway,
    ...[...connections].flatMap(({ inFlight }) => [...inFlight.values()]),
  ]
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
    async handleText(message, context) {
      const reply = await dispatch(message, toContext(context))
      if (reply === null) return null
      return 'length' in reply ? batchText(reply, toText, reference) : toText(reply)
    },
    reject(thrown, via, message) {
      const named = reference()
      const reason = thrown instanceof RpcError ? thrown.reason : 'internalError'
      const why = thrown instanceof RpcError ? { message: thrown.message } : bugOf(thrown)
      refused({ event: 'refused', id: idOf(message), reason, reference: named, transport: via.transport, ...why })
      // An id that came with a response is not one that the client waits for.
      const id = isOneWay(message) ? undefined : idOf(message)
      return errorText(id, toWire(thrown, featuresFor(message, via)?.era ?? 'legacy', named))
    },
    attach(connection, send) {
      const silence = send && hear(connection, send)
      connections.add(connection)
      return () => {
        silence?.()
        connections.delete(connection)
      }
    },
    answerWithinMs,
    subscribe: hear,
    async eventsReady() {
      await hub.ready()
    },
    shared,
    update(changed) {
      registry = compiled(changed)
      const before = current
      current = changed
      for (const kind of ['tools', 'prompts', 'resources'] as const)
        if (entriesOf(before[kind]) !== entriesOf(changed[kind])) hub.publish({ kind })
    },
    listChanged: (kind) => hub.publish({ kind }),
    assertSafeToExpose() {
      tell(current, true)
      exposed = true
    },
    async ready() {
      await Promise.all(all.map(async (piece) => piece.ready?.()))
    },
    resourceUpdated: (uri) => hub.publish({ kind: 'resource', uri }),
    logger,
    clock,
    authenticates: runtime.authenticate !== undefined,
    gauges: around.counts,
    async page(path, peer) {
      for (const piece of all) {
        const found = await piece.page?.(path, peer)
        if (found) return found
      }
      return undefined
    },
    async authorizeConnection(via, stop, method) {
      for (const piece of all) await piece.admit?.(via, stop, method)
    },
    drain() {
      phase = 'draining'
    },
    async shutDown(graceMs) {
      phase = 'leaving'
      hub.closeSubscriptions()
      const until = clock.now() + graceMs
      while (calls().length > 0 && clock.now() < until)
        await new Promise<void>((resolve) => clock.after(pollMs, resolve))
      for (const stop of calls()) stop.stop(shuttingDown())
    },
    async close() {
      phase = 'leaving'
      hub.closeSubscriptions()
      await hub.close()
      for (const connection of [...connections]) connection.close()
      await Promise.all(all.map(async (piece) => piece.close?.()))
    },
  }
}

/** How often it is looked whether calls are over. */
const pollMs = 20

/** At the start, not at the first call that would have asked: by then somebody relies on it. */
function assertNoQuestions({ tools = [], resources = [], prompts = [] }: ServerDefinition): void {
  const asking = [...tools, ...resources, ...prompts].find(({ asks }) => asks)
  if (asking)
    throw new TypeError(`${asking.kind} "${asking.name}" asks questions: add ask: ask() to the options of createServer`)
}

/** A stranger is refused before its URI is compared with any template. */
const resolveTarget: Layer = (next) => (call) => next(call.resolve ? { ...call, target: call.resolve() } : call)

const withoutUndefined = <T>(values: readonly (T | undefined)[]): readonly T[] =>
  values.filter((value) => value !== undefined)

const entriesOf = (targets: ServerDefinition['tools' | 'prompts' | 'resources']): string =>
  JSON.stringify(targets?.map(({ entry, policy }) => [entry, policy]))
