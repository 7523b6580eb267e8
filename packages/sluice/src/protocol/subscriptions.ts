/**
 * Notifies clients of changes: clients of 2026-07-28 through `subscriptions/listen`, earlier ones on their connection.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

import type { Result } from '../core/answer.ts'
import type { Call, ServerEvent } from '../core/call.ts'
import type { Connection } from '../core/connection.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { Hub } from '../core/hub.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { idOf } from './classify.ts'
import { metaKeys } from './revisions.ts'

interface SubscriptionFilter {
  readonly tools: boolean
  readonly prompts: boolean
  readonly resources: boolean
  readonly uris: ReadonlySet<string>
  /** The tenant whose changes are sent. Changes by other tenants' calls are not. */
  readonly tenant: string | undefined
}

/**
 * A subscription holds its stream and the client's parameters for as long as the stream is open. `maxParams` limits one
 * subscription, in characters; `maxTotalBytes` limits all together, in bytes.
 */
const maxUris = 1000
const maxSubscriptions = 10_000
const maxParams = 68 * 1024
const maxTotalBytes = 128 * 1024 * 1024
/** Worst-case memory of one character of JSON once it is parsed. */
const bytesPerChar = 10
/** Maximum length in characters. Every template is compared with the URI, and a subscription holds it. */
export const maxUriLength = 4096
const noUris: ReadonlySet<string> = new Set()

function parseFilter({ params, tenant }: Call): SubscriptionFilter {
  const requested = params['notifications']
  if (!isObject(requested)) throw invalidParams('notifications must be an object')
  const uris = requested['resourceSubscriptions'] ?? []
  if (
    !Array.isArray(uris) ||
    uris.length > maxUris ||
    !uris.every((uri) => typeof uri === 'string' && uri.length <= maxUriLength)
  )
    throw invalidParams(`resourceSubscriptions must be at most ${maxUris} URIs of at most ${maxUriLength} characters`)
  return {
    tools: requested['toolsListChanged'] === true,
    prompts: requested['promptsListChanged'] === true,
    resources: requested['resourcesListChanged'] === true,
    uris: new Set(uris),
    tenant: tenant.id,
  }
}

/**
 * Returns the part of the filter that this server supports, which the acknowledgement names. Resources that the caller
 * may not read are omitted like missing ones.
 */
const supported = (
  filter: SubscriptionFilter,
  capabilities: Params,
  mayRead: (uri: string) => boolean,
): SubscriptionFilter => ({
  tools: filter.tools && 'tools' in capabilities,
  prompts: filter.prompts && 'prompts' in capabilities,
  resources: filter.resources && 'resources' in capabilities,
  uris: filter.uris.size > 0 ? new Set([...filter.uris].filter(mayRead)) : noUris,
  tenant: filter.tenant,
})

const toParams = ({ tools, prompts, resources, uris }: SubscriptionFilter): Params => ({
  ...(tools && { toolsListChanged: true }),
  ...(prompts && { promptsListChanged: true }),
  ...(resources && { resourcesListChanged: true }),
  ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
})

/** Answers only when the server ends the subscription. A subscription that the client ends has no answer. */
export function createListen(
  hub: Hub,
  capabilities: Params,
  mayRead: (uri: string, call: Call) => boolean,
  watch?: (uri: string, call: Call, isWanted: () => boolean) => () => void,
): (call: Call) => Promise<Result> {
  let open = 0
  let heldBytes = 0
  return async function listen(call) {
    const { length } = JSON.stringify(call.params)
    if (length > maxParams) throw invalidParams(`the parameters must have at most ${maxParams} characters`)
    const bytes = length * bytesPerChar
    const filter = supported(parseFilter(call), capabilities, (uri) => mayRead(uri, call))
    if (open >= maxSubscriptions || heldBytes + bytes > maxTotalBytes)
      throw new RpcError('overloaded', 'Too many subscriptions are open: try again later')
    const joining = hub.ready()
    if (joining) await joining
    if (call.stop.reason) throw call.stop.reason
    const _meta = { [metaKeys.subscription]: call.id }
    call.notify('notifications/subscriptions/acknowledged', { notifications: toParams(filter), _meta })
    call.stayOpen?.()
    open++
    heldBytes += bytes
    let isOpen = true
    const unwatch = [...filter.uris].map((uri) => watch?.(uri, call, () => isOpen))
    return new Promise<Result>((resolve, reject) => {
      const end = (): void => {
        isOpen = false
        for (const each of unwatch) each?.()
        open--
        heldBytes -= bytes
        unsubscribe()
        removeCloser()
        unlisten()
      }
      const unsubscribe = hub.subscribe((event) => {
        const notification = toNotification(event, filter)
        if (notification) call.notify(notification.method, { ...notification.params, _meta })
      }, filter.uris)
      const removeCloser = hub.onClose(() => {
        end()
        resolve({ _meta })
      })
      const unlisten = call.stop.onStop((reason) => {
        end()
        reject(reason)
      })
    })
  }
}

/**
 * Returns the message that follows the answer of a subscription if all messages share one channel. The answer tells
 * clients that the subscription has ended. The specification's page on cancellation requires this message too.
 */
export const subscriptionEnded = (message: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: idOf(message) } })

/**
 * Returns the notification for a connection of an earlier revision: every list change, and the resources it subscribed
 * to.
 */
export function notificationFor(connection: Connection, event: ServerEvent): Params | undefined {
  if (!connection.state.agreed) return undefined
  const notification = toNotification(event, {
    tools: true,
    prompts: true,
    resources: true,
    // Read only for resource events, because most connections never subscribe.
    uris: event.kind === 'resource' ? connection.state.subscriptions : noUris,
    tenant: connection.state.tenant,
  })
  return notification && { jsonrpc: '2.0', ...notification }
}

function toNotification(
  event: ServerEvent,
  filter: SubscriptionFilter,
): { method: string; params: Params } | undefined {
  if (event.kind === 'resource' && event.tenant !== undefined && event.tenant !== filter.tenant) return undefined
  if (event.kind === 'resource')
    return filter.uris.has(event.uri)
      ? { method: 'notifications/resources/updated', params: { uri: event.uri } }
      : undefined
  return filter[event.kind] ? { method: `notifications/${event.kind}/list_changed`, params: {} } : undefined
}
