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
import { approve } from './layers/approve.ts'
import { authorize } from './layers/authorize.ts'
import { observe } from './layers/observe.ts'
import { refuseKeys } from './layers/once-key.ts'
import { run } from './layers/run.ts'
import { ownerTenant } from './layers/tenants.ts'
import type { Stragglers, Underway } from './layers/timeout.ts'
import { timeout } from './layers/timeout.ts'
import { validate } from './layers/validate.ts'
import { idOf, isOneWay } from './protocol/classify.ts'
import type { ServerDefinition } from './protocol/definition.ts'
import { defineServer } from './protocol/definition.ts'
import type { Context } from './protocol/dispatch.ts'
import { createDispatch, featuresFor, shuttingDown } from './protocol/dispatch.ts'
import type { Reply } from './protocol/encode.ts'
import { batchText, errorText } from './protocol/encode.ts'
import type { Registry } from './protocol/registry.ts'
import { compile } from './protocol/registry.ts'
import type { Server } from './protocol/server.ts'
import { newsFor } from './protocol/subscriptions.ts'
import type { Runtime } from './runtime.ts'
import { assemble } from './runtime.ts'

export type { Runtime } from './runtime.ts'

const here: Via = { transport: 'memory', peer: '', header: () => undefined }

const nowhere: Context = { via: here }
/** Handed on as it is where it is whole: transports make one per call, with methods of their own. */
const toContext = (context: Partial<Context> = nowhere): Context =>
  isWhole(context) ? context : { ...context, via: here }
const isWhole = (context: Partial<Context>): context is Context => context.via !== undefined

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
    if (!runtime.ask) refuseAsking(from)
    tell(from, exposed)
    return compile(defineServer(from), { hub, pageSize, errors, methods: all.flatMap((piece) => piece.methods ?? []) })
  }
  let current = definition
  let registry = compiled(definition)

  const stragglers: Stragglers = { running: 0, late: 0 }
  const underway: Underway = new Set()
  const gauge = (name: string, help: string, read: () => number): unknown =>
    around.counts.push({ name, help, type: 'gauge', read })
  gauge('sluice_stragglers', 'Work whose caller left.', () => stragglers.running)
  gauge('sluice_underway', 'Calls under way.', () => underway.size)
  gauge('sluice_connections', 'Connections.', () => connections.size)
  gauge('sluice_listeners', 'Listeners.', () => hub.size)

  const sinks = present(all.map(({ sink }) => sink))
  /** From the outside in. `limit` stands before `authorize`: guessed names must reach the limiter too. */
  const layers: readonly (Layer | undefined)[] = [
    pieces.tracing?.layer,
    observe(sinks, clock, reference, pieces.log?.arrived),
    pieces.authenticate?.layer,
    resolve,
    pieces.tenant?.layer,
    pieces.limit?.layer,
    authorize((call) => registry.refusal(call)),
    timeout(clock, stragglers, underway),
    pieces.concurrency?.layer,
    validate,
    ...(runtime.layers ?? []),
    pieces.ask?.layer,
    pieces.approvals?.layer ?? approve,
    pieces.audit?.layer,
    pieces.once?.layer ?? refuseKeys,
  ]
  const modern = pipeline(present(layers), run)
  const refused = (line: LogLine): void => {
    for (const piece of all) piece.refused?.(line)
  }
  const dispatch = createDispatch({
    registry: () => registry,
    modern,
    bridged: pipeline(present([pieces.ask?.bridge?.(sinks)]), modern),
    caller: anonymous,
    tenant: runtime.tenant ? tenants.nobody : tenants.of(ownerTenant),
    publish: hub.publish,
    leaving: () => phase === 'leaving',
    notified: pieces.log?.notified,
    ...{ refused, errors, reference, maxResultLength },
  })

  function hear(connection: Connection, send: (news: Params, position: string) => void, after?: string): () => void {
    const pass = (event: ServerEvent, position: string): void => {
      if (connection.reading) {
        const then = (): void => say(event, position)
        connection.reading.then(then, then)
        return
      }
      say(event, position)
    }
    const say = (event: ServerEvent, position: string): void => {
      const news = newsFor(connection, event)
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
    async text(message, context) {
      const reply = await dispatch(message, toContext(context))
      if (reply === null) return null
      return 'length' in reply ? batchText(reply, toText, reference) : toText(reply)
    },
    refuse(thrown, via, message) {
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
    hear,
    async listening() {
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
    expose() {
      tell(current, true)
      exposed = true
    },
    async ready() {
      await Promise.all(all.map(async (piece) => piece.ready?.()))
    },
    updated: (uri) => hub.publish({ kind: 'resource', uri }),
    logger,
    clock,
    authenticates: runtime.authenticate !== undefined,
    counts: around.counts,
    async page(path, peer) {
      for (const piece of all) {
        const found = await piece.page?.(path, peer)
        if (found) return found
      }
      return undefined
    },
    async admit(via, stop, method) {
      for (const piece of all) await piece.admit?.(via, stop, method)
    },
    drain() {
      phase = 'draining'
    },
    async finish(graceMs) {
      phase = 'leaving'
      hub.finish()
      const until = clock.now() + graceMs
      while (calls().length > 0 && clock.now() < until)
        await new Promise<void>((resolve) => clock.after(lookMs, resolve))
      for (const stop of calls()) stop.stop(shuttingDown())
    },
    async close() {
      phase = 'leaving'
      hub.finish()
      await hub.close()
      for (const connection of [...connections]) connection.close()
      await Promise.all(all.map(async (piece) => piece.close?.()))
    },
  }
}

/** How often it is looked whether calls are over. */
const lookMs = 20

/** At the start, not at the first call that would have asked: by then somebody relies on it. */
function refuseAsking({ tools = [], resources = [], prompts = [] }: ServerDefinition): void {
  const asking = [...tools, ...resources, ...prompts].find(({ asks }) => asks)
  if (asking)
    throw new TypeError(`${asking.kind} "${asking.name}" asks questions: add ask: ask() to the options of createServer`)
}

/** A stranger is refused before its URI is compared with any template. */
const resolve: Layer = (next) => (call) => next(call.resolve ? { ...call, target: call.resolve() } : call)

const present = <T>(values: readonly (T | undefined)[]): readonly T[] => values.filter((value) => value !== undefined)

const entriesOf = (targets: ServerDefinition['tools' | 'prompts' | 'resources']): string =>
  JSON.stringify(targets?.map(({ entry, policy }) => [entry, policy]))
