/** The one stream a page holds open. Pages that show live requests put a filter on it. */

import type { ConsoleEvents } from '../../sluice/src/operate/console/api.ts'

type Listener<Name extends keyof ConsoleEvents> = (data: ConsoleEvents[Name]) => void
type Listeners = { readonly [Name in keyof ConsoleEvents]: Set<Listener<Name>> }

const listeners: Listeners = { tickets: new Set(), requests: new Set(), second: new Set(), over: new Set() }
const connectionListeners = new Set<(is: boolean) => void>()
let source: EventSource | undefined
let filter = ''

export function subscribe<Name extends keyof ConsoleEvents>(name: Name, then: Listener<Name>): () => void {
  listeners[name].add(then)
  return () => {
    listeners[name].delete(then)
  }
}

export function onConnected(then: (is: boolean) => void): () => void {
  connectionListeners.add(then)
  return () => {
    connectionListeners.delete(then)
  }
}

export function openEventStream(wanted: string = filter): void {
  closeEventStream()
  filter = wanted
  const opened = new EventSource(`./api/events${wanted === '' ? '' : `?${wanted}`}`)
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
  for (const then of listeners[name]) then(data)
}

function emitConnected(is: boolean): void {
  for (const then of connectionListeners) then(is)
}
