/** The events of one server: published on the bus, heard by every process, handed to whoever subscribed here. */

import type { Bus } from '../core/bus.ts'
import type { ServerEvent } from '../core/call.ts'
import { isObject } from '../core/json.ts'
import type { Hub } from './subscriptions.ts'

export interface OwnedHub extends Hub {
  publish(event: ServerEvent): void
  close(): void
}

export function createHub(bus: Bus, server: string): OwnedHub {
  const channel = `events ${server}`
  const hearers = new Set<(event: ServerEvent) => void>()
  const closers = new Set<() => void>()
  const unsubscribe = bus.subscribe(channel, (message) => {
    const event = parseEvent(message)
    if (event) for (const hear of [...hearers]) hear(event)
  })
  return {
    subscribe(hear) {
      hearers.add(hear)
      return () => hearers.delete(hear)
    },
    onClose(then) {
      closers.add(then)
      return () => closers.delete(then)
    },
    publish(event) {
      // It only wakes: a bus that is away costs a notification, never a call.
      bus.publish(channel, JSON.stringify(event)).catch(() => {})
    },
    close() {
      unsubscribe()
      for (const then of [...closers]) then()
    },
  }
}

function parseEvent(message: string): ServerEvent | undefined {
  const event: unknown = JSON.parse(message)
  if (!isObject(event)) return undefined
  const { kind, uri, tenant } = event
  if (kind === 'resource')
    return typeof uri === 'string' ? { kind, uri, ...(typeof tenant === 'string' && { tenant }) } : undefined
  return kind === 'tools' || kind === 'prompts' || kind === 'resources' ? { kind } : undefined
}
