/**
 * Errors that no code waits for: a rejection without a handler, a throw in a timer or an event listener of a tool. Node
 * would end the process, and with it the calls of all tenants. Here they are logged with the tool's name and counted, and
 * serving goes on; or, where the operator wants it, the process drains and ends. Node alone.
 *
 * The name comes from the async context of the call. It is for the log only: nothing is decided by it.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { bugOf } from '../../core/error.ts'
import { isObject } from '../../core/json.ts'
import type { TransportServer } from '../../protocol/server.ts'

/** `serve` goes on; `end` drains, so that no call that was taken is lost, and ends the process with 1. */
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

/** The same server, whose calls can be told from each other when one of them leaves an error behind. */
export const withOrigin = (server: TransportServer): TransportServer => ({
  ...server,
  handleText: (message, context) =>
    origins.run({ server, tool: nameOf(message) }, () => server.handleText(message, context)),
})

function nameOf(message: unknown): string {
  if (Array.isArray(message)) return 'a batch'
  const { method, params } = isObject(message) ? message : {}
  const name = method === 'tools/call' && isObject(params) ? params['name'] : method
  return typeof name === 'string' ? name.slice(0, 128) : ''
}

/** Takes care of strays until the returned function is called. `end` is what to do after each, left out to go on. */
export function handleStrays(servers: readonly [TransportServer, ...TransportServer[]], end?: () => void): () => void {
  let strays = 0
  const [first] = servers
  first.gauges.push({
    name: 'sluice_stray_errors_total',
    help: 'Errors that no code waited for.',
    type: 'counter',
    read: () => strays,
  })
  const watch: StrayHandler = {
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
  handlers.add(watch)
  return () => {
    handlers.delete(watch)
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
  const own = [...handlers].find(({ servers }) => origin && servers.includes(origin.server))
  ;(own ?? first)?.handle(thrown, kind, origin?.tool)
}
