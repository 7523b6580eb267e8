/** The one stream a page holds open. Pages that show live requests put a filter on it. */

import type { Events } from '../../sluice/src/operate/console/api.ts'

type Hear<Name extends keyof Events> = (data: Events[Name]) => void
type Listeners = { readonly [Name in keyof Events]: Set<Hear<Name>> }

const listeners: Listeners = { tickets: new Set(), requests: new Set(), second: new Set(), over: new Set() }
const connected = new Set<(is: boolean) => void>()
let source: EventSource | undefined
let filter = ''

export function hear<Name extends keyof Events>(name: Name, then: Hear<Name>): () => void {
  listeners[name].add(then)
  return () => {
    listeners[name].delete(then)
  }
}

export function onConnected(then: (is: boolean) => void): () => void {
  connected.add(then)
  return () => {
    connected.delete(then)
  }
}

export function openFeed(wanted: string = filter): void {
  closeFeed()
  filter = wanted
  const opened = new EventSource(`./api/events${wanted === '' ? '' : `?${wanted}`}`)
  source = opened
  opened.onopen = () => tellConnected(true)
  opened.onerror = () => tellConnected(false)
  for (const name of Object.keys(listeners) as (keyof Events)[])
    opened.addEventListener(name, (event) => tell(name, JSON.parse((event as MessageEvent<string>).data)))
}

export function closeFeed(): void {
  source?.close()
  source = undefined
}

function tell<Name extends keyof Events>(name: Name, data: Events[Name]): void {
  for (const then of listeners[name]) then(data)
}

function tellConnected(is: boolean): void {
  for (const then of connected) then(is)
}
