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
import { lazy } from './core/lazy.ts'
import type { Logger } from './core/log.ts'
import { silent } from './core/log.ts'
import { createSeal } from './core/seal.ts'
import type { Store } from './core/store.ts'
import { below } from './core/store.ts'
import { approve } from './layers/approve.ts'
import { ask } from './layers/ask.ts'
import { authorize } from './layers/authorize.ts'
import { observe } from './layers/observe.ts'
import { run } from './layers/run.ts'
import { timeout } from './layers/timeout.ts'
import { validate } from './layers/validate.ts'
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
  readonly secret?: string | readonly string[]
  readonly logger?: Logger
  /** Your own layers: they see validated calls, and nothing of theirs runs after an approval. */
  readonly layers?: readonly Layer[]
  /** `json-rpc` gives the codes of plain JSON-RPC servers instead of MCP's, to clients before 2026-07-28. */
  readonly errors?: ErrorStyle
  /** Entries on one page of a list. */
  readonly pageSize?: number
  /** How long a question to a client before 2026-07-28 may stay open. */
  readonly answerWithinMs?: number
}

const minimumSecret = 16
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
  const connections = new Set<Connection>()
  const compiled = (from: ServerDefinition): Registry => compile(defineServer(from), { hub, pageSize, errors })
  let current = definition
  let registry = compiled(definition)

  const layers: readonly Layer[] = [
    observe(logger, clock, reference),
    authorize((call) => registry.refusal(call)),
    timeout(clock),
    validate,
    ...(runtime.layers ?? []),
    ask(createSeal(secretsOf(runtime.secret), `state ${definition.info.name}`, clock)),
    approve,
  ]
  const modern = pipeline(layers, run)
  const dispatch = createDispatch({
    registry: () => registry,
    modern,
    bridged: pipeline([bridge], modern),
    caller: anonymous,
    tenant: { id: 'default', store: below(store, ['tenant', 'default']) },
    publish: hub.publish,
    ...{ logger, errors, reference },
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
      logger.warn({ event: 'refused', id: idOf(message), reason, reference: named, transport: via.transport, ...why })
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
    close() {
      hub.close()
      for (const connection of [...connections]) connection.close()
    },
  }
}

const entriesOf = (targets: ServerDefinition['tools' | 'prompts' | 'resources']): string =>
  JSON.stringify(targets?.map(({ entry, policy }) => [entry, policy]))

/** Short enough to read out, long enough not to repeat in a day's log. */
const reference = (): string => crypto.randomUUID().slice(0, 13)

function secretsOf(secret: Runtime['secret']): () => readonly string[] {
  const given = typeof secret === 'string' ? [secret] : (secret ?? [])
  for (const each of given)
    if (each.length < minimumSecret)
      throw new TypeError(
        `secret: use at least ${minimumSecret} characters, for instance the output of "openssl rand -base64 32"`,
      )
  return lazy(() => (given.length > 0 ? given : [crypto.randomUUID() + crypto.randomUUID()]))
}
