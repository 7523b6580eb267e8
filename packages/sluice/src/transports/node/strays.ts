/**
 * Stray errors: a rejection without a handler, or a throw in a timer or an event listener of a tool. Node would end the
 * process, and with it the calls of all tenants. Here they are logged with the tool's name and counted, and serving
 * continues. With the policy `end` the process drains and ends. For Node only.
 *
 * The name comes from the async context of the call. It is for the log only, and no decision depends on it.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { bugOf } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import type { MessageContext } from '../../protocol/dispatch.ts'
import type { TransportServer } from '../../protocol/server.ts'

/** `serve` continues. `end` drains, so that no accepted call is lost, and exits with 1. */
export type StrayPolicy = 'serve' | 'end'

interface Origin {
  readonly server: TransportServer
  readonly tool: string
}
interface StrayHandler {
  readonly servers: readonly TransportServer[]
  handle(thrown: unknown, kind: StrayKind, tool: string | undefined): void
}
type StrayKind = 'rejection' | 'exception'

const origins = new AsyncLocalStorage<Origin>()
const handlers = new Set<StrayHandler>()

/** Returns the same server, with the async context that names the call of a stray error. */
export const withOrigin = (server: TransportServer): TransportServer => ({
  ...server,
  handleText: (message, context) =>
    origins.run({ server, tool: nameOf(message) }, () => server.handleText(message, context)),
})

/** Above this number all are forgotten, because a client can name any tool. */
const maxContexts = 1_000

/** A server whose calls have the async context of their tool. */
export interface OriginPerTool {
  readonly server: TransportServer
  /** Runs `work` in the context of the last call. Calls of the same tool within it do not have to enter a context. */
  enter(work: () => void): void
}

/**
 * The same for a transport whose messages arrive without an async context, such as stdio: a context per tool, made once.
 * Making one per call costs as much as a layer, and entering one half of that. Over HTTP each request may have a
 * context, which must be kept.
 */
export function withOriginPerTool(server: TransportServer): OriginPerTool {
  const inherited = AsyncLocalStorage.snapshot()
  const contexts = new Map<string, typeof inherited>()
  let last = inherited
  function contextOf(tool: string): typeof inherited {
    const found = contexts.get(tool)
    if (found) return found
    if (contexts.size >= maxContexts) contexts.clear()
    const made = inherited(() => origins.run({ server, tool }, () => AsyncLocalStorage.snapshot()))
    contexts.set(tool, made)
    return made
  }
  function handleText(message: unknown, context?: Partial<MessageContext>): ReturnType<TransportServer['handleText']> {
    const tool = nameOf(message)
    const current = origins.getStore()
    if (current?.server === server && current.tool === tool) return server.handleText(message, context)
    last = contextOf(tool)
    return last(server.handleText, message, context)
  }
  return { server: { ...server, handleText }, enter: (work) => last(work) }
}

function nameOf(message: unknown): string {
  if (Array.isArray(message)) return 'a batch'
  const { method, params } = isObject(message) ? message : {}
  const name = method === 'tools/call' && isObject(params) ? params['name'] : method
  return typeof name === 'string' ? name.slice(0, 128) : ''
}

/**
 * Handles stray errors until the returned function is called. `end` is called after each; by default serving continues.
 */
export function handleStrays(servers: readonly [TransportServer, ...TransportServer[]], end?: () => void): () => void {
  let strays = 0
  const [first] = servers
  first.gauges.push({
    name: 'sluice_stray_errors_total',
    help: 'Errors that no code waited for.',
    type: 'counter',
    read: () => strays,
  })
  const handler: StrayHandler = {
    servers,
    handle(thrown, kind, tool) {
      strays++
      try {
        first.logger.error({ event: 'strayError', kind, ...(tool !== undefined && { tool }), ...bugOf(thrown) })
      } finally {
        end?.()
      }
    },
  }
  if (handlers.size === 0) {
    process.on('unhandledRejection', onRejection)
    process.on('uncaughtException', onException)
  }
  handlers.add(handler)
  return () => {
    handlers.delete(handler)
    if (handlers.size > 0) return
    process.off('unhandledRejection', onRejection)
    process.off('uncaughtException', onException)
  }
}

const onRejection = (thrown: unknown): void => dispatchStray(thrown, 'rejection')
const onException = (thrown: unknown): void => dispatchStray(thrown, 'exception')

function dispatchStray(thrown: unknown, kind: StrayKind): void {
  const origin = origins.getStore()
  const [first] = handlers
  const matching = [...handlers].find(({ servers }) => origin && servers.includes(origin.server))
  ;(matching ?? first)?.handle(thrown, kind, origin?.tool)
}
