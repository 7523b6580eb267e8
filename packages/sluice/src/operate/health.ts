/**
 * What an orchestrator and a scraper ask: alive, ready, the numbers. From a path to a response and nothing else; HTTP
 * mounts it beside the MCP endpoint, before the gate, so that a server under load is not taken for a dead one.
 */

import type { Clock } from '../core/clock.ts'
import type { Store } from '../core/store.ts'

export interface Page {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  readonly body: string
}

export interface HealthOptions {
  readonly clock: Clock
  /** Asked by `/readyz`. */
  readonly store: Store
  /** Whether it is being shut down: then no new work should be sent here. */
  draining(): boolean
  /** The body of `/metrics`. Left out, there is no such page. */
  metrics?(): string
  /**
   * Who may read these, by address. Only this machine by default: the numbers tell strangers what is used and how much.
   * Behind a proxy on the same machine every client comes from there; let the proxy keep these paths to itself.
   */
  readonly readers?: 'loopback' | 'everyone' | ((peer: string) => boolean)
  /** How long the store may take to count as there. A probe that waits longer is given up by most orchestrators. */
  readonly withinMs?: number
}

/** `undefined` for a path that is not one of these, and for who may not read them: to strangers they are not there. */
export type Health = (path: string, peer: string) => Promise<Page | undefined>

const plain = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }
const numbers = { ...plain, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }
const page = (status: number, body: string): Page => ({ status, headers: plain, body: `${body}\n` })

export function createHealth({ clock, store, draining, metrics, ...options }: HealthOptions): Health {
  const { readers = 'loopback', withinMs = 1_000 } = options
  const mayRead = readers === 'everyone' ? () => true : readers === 'loopback' ? isLoopback : readers
  let asking: Promise<boolean> | undefined

  /** One question at a time, however many ask: probes must not be a way to keep the store busy. */
  function storeAnswers(): Promise<boolean> {
    asking ??= new Promise<boolean>((resolve) => {
      const callOff = clock.after(withinMs, () => resolve(false))
      store
        .get(['health'])
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(callOff)
    }).finally(() => {
      asking = undefined
    })
    return asking
  }
  return async function health(path, peer) {
    if (path !== '/healthz' && path !== '/readyz' && path !== '/metrics') return undefined
    if (!mayRead(peer)) return undefined
    if (path === '/healthz') return page(200, 'alive')
    if (path === '/metrics') return metrics && { status: 200, headers: numbers, body: metrics() }
    if (draining()) return page(503, 'draining')
    return (await storeAnswers()) ? page(200, 'ready') : page(503, 'the store does not answer')
  }
}

/** As sockets name them; IPv4 may come mapped into IPv6. Nothing at all is no address, so it is not this machine. */
const isLoopback = (peer: string): boolean =>
  peer === '::1' || /^(?:::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(peer)
