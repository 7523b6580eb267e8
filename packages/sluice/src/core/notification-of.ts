/** The notification of a change. */

import type { ServerEvent } from './call.ts'
import type { Params } from './json.ts'

/** Returns the notification. `undefined` for a resource that is not among `uris`, or that another tenant's call changed. */
export function notificationOf(
  event: ServerEvent,
  uris: ReadonlySet<string>,
  tenant: string | undefined,
): { readonly method: string; readonly params: Params } | undefined {
  if (event.kind !== 'resource') return { method: `notifications/${event.kind}/list_changed`, params: {} }
  const { uri, tenant: only = tenant } = event
  return only === tenant && uris.has(uri) ? { method: 'notifications/resources/updated', params: { uri } } : undefined
}
