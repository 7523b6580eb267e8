/**
 * What one upstream lists, and the part of it that is served: the definitions whose hashes an operator accepted. The rest
 * is quarantined, which means neither listed nor callable.
 */

import type { Mutable } from '../core/mutable.ts'
import type { UriTemplate } from '../core/uri-template.ts'
import { parseTemplate } from '../core/uri-template.ts'
import { toAscii } from '../core/uri-template-match.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import type { FixedArguments, PinnedDefinition } from './pinned.ts'
import { acceptedPart, pinnedOf } from './pinned.ts'
import type { Pin, UpstreamPins } from './pins.ts'
import type { LeftOut } from './types.ts'

export interface Quarantined {
  readonly definition: PinnedDefinition
  readonly accepted: Pin | undefined
  /** The decision against exactly this hash, if there is one. */
  readonly rejected: Pin | undefined
}

export interface Quarantine {
  readonly listed: UpstreamDefinitions | undefined
  /** What is served of it. `undefined` before the pins are known, because a check that cannot run says no. */
  readonly served: UpstreamDefinitions | undefined
  /** The pinned definitions of what is listed. Empty if definitions are not pinned. */
  readonly offered: ReadonlyMap<string, PinnedDefinition>
  readonly quarantined: readonly Quarantined[]
  /** `undefined` if definitions are not pinned, with `trust: 'always'`. */
  readonly pins: UpstreamPins | undefined
  /** Returns the hash of a served definition; `undefined` if it is quarantined or unknown. */
  servedHash(id: string): string | undefined
  /** Returns whether a URI belongs to a quarantined template, and so cannot be read as a link. */
  isQuarantinedUri(uri: string): boolean
  list(definitions: UpstreamDefinitions): void
  /** Decides again what is served, after the pins changed. */
  update(): void
}

export function createQuarantine(pins: UpstreamPins | undefined, fixedArguments: FixedArguments): Quarantine {
  let templates: readonly UriTemplate[] = []
  const quarantine: Mutable<Quarantine> = {
    ...{ listed: undefined, served: undefined, offered: new Map(), quarantined: [], pins },
    servedHash(id) {
      const hash = quarantine.offered.get(id)?.hash
      return hash !== undefined && pins?.record?.accepted[id]?.hash === hash ? hash : undefined
    },
    isQuarantinedUri(uri) {
      if (templates.length === 0) return false
      const text = toAscii(uri) ?? ''
      return templates.some((template) => template.match(text) !== undefined)
    },
    list(definitions) {
      quarantine.listed = definitions
      if (pins) quarantine.offered = pinnedOf(definitions, fixedArguments)
      quarantine.update()
    },
    update() {
      const { listed, offered, servedHash } = quarantine
      if (!pins) quarantine.served = listed
      if (!listed || !pins?.isKnown) return
      const { accepted = {}, rejected = {} } = pins.record ?? {}
      quarantine.served = acceptedPart(listed, (id) => servedHash(id) !== undefined)
      const quarantined = [...offered.values()]
        .filter(({ id }) => servedHash(id) === undefined)
        .map((definition) => {
          const { id, hash } = definition
          const decision = rejected[id]?.hash === hash ? rejected[id] : undefined
          return { definition, accepted: accepted[id], rejected: decision }
        })
      quarantine.quarantined = quarantined
      templates = quarantined.flatMap(({ definition: { kind, name } }) => (kind === 'template' ? templateOf(name) : []))
    },
  }
  return quarantine
}

/** A template that cannot be read is not served in any case. */
function templateOf(text: string): readonly UriTemplate[] {
  try {
    return [parseTemplate(text)]
  } catch {
    return []
  }
}

export const leftOutOf = (quarantined: readonly Quarantined[], upstream: string): readonly LeftOut[] =>
  quarantined.map(({ definition: { kind, name }, accepted, rejected }) => ({
    kind,
    name: name.slice(0, 200),
    reason: rejected
      ? `rejected by ${rejected.by}`
      : `${accepted ? 'it changed' : 'it is new'}, and waits for an operator: sluice upstreams diff ${upstream}`,
  }))
