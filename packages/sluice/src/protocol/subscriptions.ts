/**
 * Notifies clients of 2026-07-28 of changes, through `subscriptions/listen`. Earlier ones are notified on their
 * connection.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { listKinds } from '../core/call.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { Hub } from '../core/hub.ts'
import type { Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import { notificationOf } from '../core/notification-of.ts'
import { idOf } from './classify.ts'
import { metaKeys } from './revisions.ts'

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

/** What a subscription is notified of: the lists, and the resources at these URIs. */
interface SubscriptionFilter {
  readonly kinds: readonly string[]
  readonly uris: ReadonlySet<string>
}

/**
 * Returns the part of the requested filter that this server supports, which the acknowledgement names. Resources that
 * the caller may not read are omitted like missing ones.
 */
function parseFilter(requested: unknown, capabilities: Params, mayRead: (uri: string) => boolean): SubscriptionFilter {
  if (!isObject(requested)) throw invalidParams('notifications must be an object')
  const uris = requested['resourceSubscriptions'] ?? []
  if (
    !Array.isArray(uris) ||
    uris.length > maxUris ||
    !uris.every((uri) => typeof uri === 'string' && uri.length <= maxUriLength)
  )
    throw invalidParams(`resourceSubscriptions must be at most ${maxUris} URIs of at most ${maxUriLength} characters`)
  return {
    kinds: listKinds.filter((kind) => requested[memberOf(kind)] === true && kind in capabilities),
    uris: new Set(uris.filter(mayRead)),
  }
}

const memberOf = (kind: string): string => `${kind}ListChanged`

const toParams = ({ kinds, uris }: SubscriptionFilter): Params => ({
  ...Object.fromEntries(kinds.map((kind) => [memberOf(kind), true])),
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
    const filter = parseFilter(call.params['notifications'], capabilities, (uri) => mayRead(uri, call))
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
        if (event.kind !== 'resource' && !filter.kinds.includes(event.kind)) return
        const notification = notificationOf(event, filter.uris, call.tenant.id)
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
