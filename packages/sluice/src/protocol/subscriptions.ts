/**
 * Who hears of changes: clients of 2026-07-28 through `subscriptions/listen`, earlier ones on their connection.
 *
 * https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */

import type { Result } from '../core/answer.ts'
import type { Call, ServerEvent } from '../core/call.ts'
import type { Connection } from '../core/connection.ts'
import { charsIn, maxUriChars } from '../core/connection-state.ts'
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
  /** Whose changes: those of other tenants' calls are not heard. */
  readonly tenant: string | undefined
}

/**
 * A subscription keeps its stream and all that the client sent with it, for as long as the stream is open. `maxParams` is
 * what one may keep, in characters; `maxKept` what all may keep together, in bytes.
 */
const maxUris = 1000
const maxSubscriptions = 10_000
const maxParams = maxUriChars + 4096
const maxTotalBytes = 128 * 1024 * 1024
/** What a character of JSON costs once it is parsed, at worst. */
const bytesPerChar = 10
/** In characters. Every template is compared with it, and a subscription keeps it. */
export const maxUriLength = 4096
const noUris: ReadonlySet<string> = new Set()

function parseFilter({ params, tenant }: Call): SubscriptionFilter {
  const asked = params['notifications']
  if (!isObject(asked)) throw invalidParams('notifications must be an object')
  const uris = asked['resourceSubscriptions'] ?? []
  if (
    !Array.isArray(uris) ||
    uris.length > maxUris ||
    !uris.every((uri) => typeof uri === 'string' && uri.length <= maxUriLength)
  )
    throw invalidParams(`resourceSubscriptions must be at most ${maxUris} URIs of at most ${maxUriLength} characters`)
  if (charsIn(uris) > maxUriChars)
    throw invalidParams(`resourceSubscriptions must have at most ${maxUriChars} characters in all`)
  return {
    tools: asked['toolsListChanged'] === true,
    prompts: asked['promptsListChanged'] === true,
    resources: asked['resourcesListChanged'] === true,
    uris: new Set(uris),
    tenant: tenant.id,
  }
}

/**
 * What of it this server can honour: the acknowledgement names no more than that. Resources the caller may not read are
 * left out like those that are not there.
 */
const supported = (wanted: SubscriptionFilter, has: Params, mayHear: (uri: string) => boolean): SubscriptionFilter => ({
  tools: wanted.tools && 'tools' in has,
  prompts: wanted.prompts && 'prompts' in has,
  resources: wanted.resources && 'resources' in has,
  uris: wanted.uris.size > 0 ? new Set([...wanted.uris].filter(mayHear)) : noUris,
  tenant: wanted.tenant,
})

const toParams = ({ tools, prompts, resources, uris }: SubscriptionFilter): Params => ({
  ...(tools && { toolsListChanged: true }),
  ...(prompts && { promptsListChanged: true }),
  ...(resources && { resourcesListChanged: true }),
  ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
})

/** Answers only when the subscription ends: by the server closing, or never, if the client went first. */
export function createListen(
  hub: Hub,
  capabilities: Params,
  mayHear: (uri: string, call: Call) => boolean,
): (call: Call) => Promise<Result> {
  let open = 0
  let kept = 0
  return async function listen(call) {
    const { length } = JSON.stringify(call.params)
    if (length > maxParams) throw invalidParams(`the parameters must have at most ${maxParams} characters`)
    const bytes = length * bytesPerChar
    const wanted = supported(parseFilter(call), capabilities, (uri) => mayHear(uri, call))
    if (open >= maxSubscriptions || kept + bytes > maxTotalBytes)
      throw new RpcError('overloaded', 'Too many subscriptions are open: try again later')
    const joining = hub.ready()
    if (joining) await joining
    if (call.stop.reason) throw call.stop.reason
    const _meta = { [metaKeys.subscription]: call.id }
    call.notify('notifications/subscriptions/acknowledged', { notifications: toParams(wanted), _meta })
    call.stayOpen?.()
    open++
    kept += bytes
    return new Promise<Result>((resolve, reject) => {
      const end = (): void => {
        open--
        kept -= bytes
        unsubscribe()
        forget()
        silence()
      }
      const unsubscribe = hub.subscribe((event) => {
        const news = toNotification(event, wanted)
        if (news) call.notify(news.method, { ...news.params, _meta })
      })
      const forget = hub.onClose(() => {
        end()
        resolve({ _meta })
      })
      const silence = call.stop.onStop((reason) => {
        end()
        reject(reason)
      })
    })
  }
}

/**
 * The message that follows the answer of a subscription where all messages share one channel. The answer says that the
 * subscription has ended, which clients look for; the specification's page on cancellation asks for this one too.
 */
export const subscriptionEnded = (message: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: idOf(message) } })

/** A connection of an earlier revision hears every list change, and the resources it subscribed to. */
export function notificationFor(connection: Connection, event: ServerEvent): Params | undefined {
  if (!connection.state.agreed) return undefined
  const news = toNotification(event, {
    tools: true,
    prompts: true,
    resources: true,
    // Made when it is asked for, and most connections never subscribe.
    uris: event.kind === 'resource' ? connection.state.subscriptions : noUris,
    tenant: connection.state.tenant,
  })
  return news && { jsonrpc: '2.0', ...news }
}

function toNotification(
  event: ServerEvent,
  wanted: SubscriptionFilter,
): { method: string; params: Params } | undefined {
  if (event.kind === 'resource' && event.tenant !== undefined && event.tenant !== wanted.tenant) return undefined
  if (event.kind === 'resource')
    return wanted.uris.has(event.uri)
      ? { method: 'notifications/resources/updated', params: { uri: event.uri } }
      : undefined
  return wanted[event.kind] ? { method: `notifications/${event.kind}/list_changed`, params: {} } : undefined
}
