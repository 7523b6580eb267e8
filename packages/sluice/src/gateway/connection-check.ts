/**
 * Compares each new connection of an upstream with what is served, before its first call. An upstream could show one
 * caller other definitions than the reviewed ones. A difference quarantines that connection, and no other.
 */

import type { Client } from '../client/types.ts'
import { RpcError } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import { readDefinitions } from './definitions.ts'
import type { PinnedLists } from './pinned.ts'
import { entriesOf, isPinnedList, partsOf, pinHash } from './pinned.ts'
import type { Quarantine } from './quarantine.ts'
import { notRun } from './transport-connections.ts'
import { unavailable } from './upstream-error.ts'

/** The definition that a call uses, as it was when the call's target was made. */
export interface CalledDefinition {
  readonly id: string
  readonly hash: string
}

export interface ConnectionCheckDeps {
  readonly name: string
  readonly quarantine: Quarantine
  readonly timeoutMs: number
  /** Lists the upstream again on the connection of the discovery. */
  refresh(): Promise<void>
  differs(connection: string, definition: string): void
}

export interface ConnectionCheck {
  /**
   * Throws if the connection defines something differently, or if the definition of the call is quarantined by now.
   * `undefined` if the connection was compared before.
   */
  verify(client: Client, connection: string, called: CalledDefinition | undefined): Promise<void> | undefined
  /** Compares this connection again before its next call, because it announced changed lists. */
  forget(client: Client): void
  /** Compares every connection again before its next call. */
  forgetAll(): void
  /** The first definition that differs on each quarantined connection. */
  readonly differing: ReadonlyMap<string, string>
}

/** Quarantined connections that an operator sees. */
const maxDiffering = 1000

export function createConnectionCheck(deps: ConnectionCheckDeps): ConnectionCheck {
  const { name, quarantine, timeoutMs } = deps
  let checked = new WeakMap<Client, Promise<void> | true>()
  const differing = new Map<string, string>()

  /** Returns the first definition that this connection defines differently from the served one. */
  function differenceIn(lists: PinnedLists): string | undefined {
    for (const [id, definition] of entriesOf(lists)) {
      const served = quarantine.servedHash(id)
      if (served === undefined) continue
      const { content } = quarantine.offered.get(id) ?? {}
      if (content && isSameText(content.definition, definition)) continue
      if (pinHash(id, { ...content, definition }) !== served) return id
    }
    return undefined
  }

  async function compare(client: Client, connection: string): Promise<void> {
    const lists = await readDefinitions(client, timeoutMs, isPinnedList)
    if (differenceIn(lists) === undefined) return
    // The upstream may have changed for everyone. Then the definition is quarantined, and the connection is not.
    await deps.refresh()
    const different = differenceIn(lists)
    if (different === undefined) return
    const [oldest] = differing.keys()
    if (oldest !== undefined && differing.size >= maxDiffering) differing.delete(oldest)
    differing.set(connection, different)
    deps.differs(connection, different)
    throw unavailable(
      `${name} defines ${nameOf(different)} differently on this connection than for everyone else. The call did not run: tell the operator`,
      { definition: different },
    )
  }

  function assertServed({ id, hash }: CalledDefinition): void {
    if (quarantine.servedHash(id) === hash) return
    throw unavailable(
      `The definition of ${nameOf(id)} changed and waits for an operator. The call did not run: tell the operator`,
      { definition: id },
    )
  }

  return {
    differing,
    verify(client, connection, called) {
      if (!quarantine.pins) return undefined
      const known = checked.get(client)
      if (known === true) {
        if (called) assertServed(called)
        return undefined
      }
      const current = checked
      const checking =
        known ??
        compare(client, connection).then(
          () => {
            differing.delete(connection)
            if (current.get(client) === checking) current.set(client, true)
          },
          (thrown: unknown) => {
            // A connection that shows other definitions stays refused. A failure is checked again by the next call.
            if (thrown instanceof RpcError) throw thrown
            if (current.get(client) === checking) current.delete(client)
            throw notRun(thrown)
          },
        )
      if (!known) current.set(client, checking)
      return checking.then(() => {
        if (called) assertServed(called)
      })
    },
    forget: (client) => checked.delete(client),
    forgetAll() {
      checked = new WeakMap()
      differing.clear()
    },
  }
}

const isSameText = (one: Params, other: Params): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Returns the name in an id, bounded, because an upstream chose it. */
const nameOf = (id: string): string => partsOf(id).name.slice(0, 128)
