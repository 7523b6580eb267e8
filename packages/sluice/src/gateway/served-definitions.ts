/**
 * Keeps what is served of each upstream current: definitions from the store and from the discovery, and the pins that
 * decide which of them are served. All processes read the same pins.
 */

import { digest } from '../core/digest.ts'
import type { Services } from '../core/plugin.ts'
import type { Key } from '../core/store.ts'
import { prefixed } from '../core/store.ts'
import { memoryStore } from '../stores/memory.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { parseDefinitions } from './definitions.ts'
import { createPacedWork } from './paced-work.ts'
import type { UpstreamPins } from './pins.ts'
import { createUpstreamPins } from './pins.ts'
import type { RunningUpstream } from './runtime.ts'
import type { Upstream } from './types.ts'

export interface ServedDefinitions {
  /** Creates the pins of an upstream; `undefined` if its definitions are not pinned. */
  pinsOf(upstream: Upstream): UpstreamPins | undefined
  /** Takes definitions that the discovery listed. Rejects if the pins cannot be read for the first time. */
  found(one: RunningUpstream | undefined, definitions: UpstreamDefinitions): Promise<void>
  /** Takes the stored definitions of an upstream, if there are any. */
  load(one: RunningUpstream): Promise<void>
  /** Serves what the pins of an upstream accept now, here and in the other processes. */
  pinsChanged(one: RunningUpstream): void
  /** Called after definitions changed. The returned function unsubscribes. */
  onChange(then: () => void): () => void
  announceAll(): void
  close(): void
}

/** How often pins are read, because a message of another process may be lost. */
const readPinsMs = 5_000

/** The audit of what concerns all tenants, as of other decisions of operators. */
export const operatorTenant = 'default'

export function createServedDefinitions(
  gateway: string,
  { store, bus, clock, logger, audit }: Services,
  running: (upstream: string) => RunningUpstream | undefined,
  changed: (upstream: string) => void,
): ServedDefinitions {
  const definitionStore = prefixed(store, ['gateway', gateway, 'definitions'])
  // Without a store, pins are kept as long as the process.
  const pinStore = store.isAbsent ? memoryStore(clock) : prefixed(store, ['gateway', gateway])
  const channel = `gateway pins ${gateway}`
  const listeners = new Set<() => void>()
  /** Each listener compiles the definitions of all upstreams. */
  const announcing = createPacedWork(clock, () => {
    for (const listener of listeners) listener()
  })
  const pinned = new Set<string>()
  let cancelTimer: (() => void) | undefined
  const unsubscribe = bus.subscribe(channel, readPins)
  scheduleRead()

  function scheduleRead(): void {
    if (store.inProcess || store.isAbsent) return
    cancelTimer = clock.after(readPinsMs, () => {
      for (const upstream of pinned) readPins(upstream)
      scheduleRead()
    })
  }

  /** A store that cannot be read changes nothing: what was accepted before is served. */
  function readPins(upstream: string): void {
    const one = running(upstream)
    one?.quarantine.pins?.read().then(
      (isChanged) => {
        if (isChanged) applyPins(one)
      },
      () => {},
    )
  }

  function applyPins(one: RunningUpstream): void {
    one.quarantine.update()
    one.check.forgetAll()
    announce(one, announcing.run)
  }

  /** Reads the pins. If no decision was ever made, it accepts what is listed, except for an upstream to review. */
  async function settlePins({ upstream, quarantine }: RunningUpstream): Promise<void> {
    const { pins, offered } = quarantine
    if (!pins || pins.isKnown) return
    if (upstream.trust === 'review') await pins.read()
    else if (await pins.acceptFirst(offered.values(), { by: 'first use', at: clock.now() }))
      audit.record(operatorTenant, 'definitions accepted at first use', {
        upstream: upstream.name,
        definitions: offered.size,
        hash: digest([...offered.values()].map(({ id, hash }) => [id, hash])),
      })
    quarantine.update()
  }

  function announce({ upstream, quarantine }: RunningUpstream, publish = announcing.request): void {
    const waiting = quarantine.quarantined.filter(({ rejected }) => !rejected)
    if (waiting.length > 0)
      logger.warn({
        ...{ event: 'definitionsQuarantined', upstream: upstream.name, count: waiting.length },
        definitions: waiting
          .slice(0, 20)
          .map(({ definition }) => definition.id.slice(0, 128))
          .join(', '),
        message: `New or changed definitions are not served. See: sluice upstreams diff ${upstream.name}`,
      })
    publish()
    changed(upstream.name)
  }

  function save(upstream: Upstream, text: string): void {
    definitionStore.set(storeKey(upstream), text).catch((thrown: unknown) => {
      const message = thrown instanceof Error ? thrown.message : ''
      logger.warn({ event: 'definitionsNotStored', upstream: upstream.name, message })
    })
  }

  return {
    pinsOf(upstream) {
      if (upstream.trust === 'always') return undefined
      pinned.add(upstream.name)
      return createUpstreamPins(pinStore, storeKey(upstream), upstream.trust === 'review')
    },
    async found(one, definitions) {
      if (!one) return
      const { quarantine } = one
      const text = JSON.stringify(definitions)
      const isSame = quarantine.listed !== undefined && JSON.stringify(quarantine.listed) === text
      if (isSame && one.origin === 'current') return
      if (!isSame) {
        quarantine.list(definitions)
        // Each connection is compared with the new definitions before its next call.
        one.check.forgetAll()
        save(one.upstream, text)
      }
      await settlePins(one)
      one.origin = 'current'
      announce(one)
    },
    async load(one) {
      const { quarantine, upstream } = one
      const text = await definitionStore.get(storeKey(upstream)).catch(() => undefined)
      const stored = text === undefined ? undefined : parseDefinitions(text)
      if (!stored || quarantine.listed) return
      quarantine.list(stored)
      // Without pins nothing is served. The discovery tries again.
      await settlePins(one).catch(() => {})
      if (quarantine.served) one.origin = 'stored'
    },
    pinsChanged(one) {
      applyPins(one)
      // The other processes read the pins again soon, also without the message.
      bus.publish(channel, one.upstream.name).catch(() => {})
    },
    onChange(then) {
      listeners.add(then)
      return () => listeners.delete(then)
    },
    announceAll: announcing.run,
    close() {
      listeners.clear()
      announcing.close()
      cancelTimer?.()
      unsubscribe()
    },
  }
}

/** A name that is given to another server later must not bring the definitions of the first. */
export const storeKey = ({ name, reaches = '' }: Upstream): Key => [name, digest(reaches)]
