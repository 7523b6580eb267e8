/** The event stream that a page holds open. The Live page sets a filter on it. */

import type { ConsoleEvents } from '../api/index.ts'

type Listener<Name extends keyof ConsoleEvents> = (data: ConsoleEvents[Name]) => void
type Listeners = { readonly [Name in keyof ConsoleEvents]: Set<Listener<Name>> }

const listeners: Listeners = { tickets: new Set(), requests: new Set(), second: new Set(), over: new Set() }
const connectionListeners = new Set<(isConnected: boolean) => void>()
let source: EventSource | undefined
let filter = ''

export function subscribe<Name extends keyof ConsoleEvents>(name: Name, listener: Listener<Name>): () => void {
  listeners[name].add(listener)
  return () => {
    listeners[name].delete(listener)
  }
}

export function onConnected(listener: (isConnected: boolean) => void): () => void {
  connectionListeners.add(listener)
  return () => {
    connectionListeners.delete(listener)
  }
}

export function openEventStream(query: string = filter): void {
  closeEventStream()
  filter = query
  const opened = new EventSource(`./api/events${query === '' ? '' : `?${query}`}`)
  source = opened
  opened.onopen = () => emitConnected(true)
  opened.onerror = () => emitConnected(false)
  for (const name of Object.keys(listeners) as (keyof ConsoleEvents)[])
    opened.addEventListener(name, (event) => emit(name, JSON.parse((event as MessageEvent<string>).data)))
}

export function closeEventStream(): void {
  source?.close()
  source = undefined
}

function emit<Name extends keyof ConsoleEvents>(name: Name, data: ConsoleEvents[Name]): void {
  for (const listener of listeners[name]) listener(data)
}

function emitConnected(isConnected: boolean): void {
  for (const listener of connectionListeners) listener(isConnected)
}
