/**
 * Shows the quarantined definitions of a running gateway, and carries out an operator's decision. The console and the
 * command use it, so that a decision is made, checked and recorded in one place.
 */

import { digest } from '../core/digest.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import { textLinesOf } from './definition-text.ts'
import type { UpstreamTool } from './explain.ts'
import { toolsOf } from './explain.ts'
import { diffLines } from './line-diff.ts'
import { marksOf } from './marks.ts'
import type { PinnedDefinition } from './pinned.ts'
import { partsOf } from './pinned.ts'
import type { Pin } from './pins.ts'
import type { Quarantined } from './quarantine.ts'
import type {
  DefinitionDiff,
  DefinitionReview,
  DiffLine,
  QuarantinedDefinition,
  ReviewedDefinition,
  Reviewer,
} from './review.ts'
import type { RunningUpstream, Runtime } from './runtime.ts'
import { operatorTenant } from './served-definitions.ts'

export function createReview(
  running: () => Runtime | undefined,
  listeners: Set<(upstream: string) => void>,
): DefinitionReview {
  function upstreamOf(name: string): { readonly runtime: Runtime; readonly one: RunningUpstream } {
    const runtime = running()
    const one = runtime?.upstreams.get(name)
    if (!runtime || !one) throw invalidParams(`unknown upstream "${name}"`)
    return { runtime, one }
  }

  async function decide(
    name: string,
    definitions: readonly ReviewedDefinition[],
    by: Reviewer,
    kind: 'accepted' | 'rejected',
  ): Promise<void> {
    const { runtime, one } = upstreamOf(name)
    const { audit, clock } = runtime.services
    const fieldsOf = ({ id, hash }: ReviewedDefinition): object => ({
      ...{ upstream: name, definition: id.slice(0, 4096), hash: hash.slice(0, 64), by: by.subject, via: by.via },
    })
    const record = (what: string, more: (definition: ReviewedDefinition) => object = () => ({})): void => {
      for (const each of definitions)
        audit.record(operatorTenant, `definition ${what}`, { ...fieldsOf(each), ...more(each) })
    }
    try {
      assertReviewer(by)
      const reviewed = definitions.map((each) => offeredOf(one, each))
      const before = one.quarantine.pins?.record?.accepted ?? {}
      const pin: Omit<Pin, 'hash'> = { by: by.subject, at: clock.now() }
      if (kind === 'accepted') await one.quarantine.pins?.accept(reviewed, pin)
      else await one.quarantine.pins?.reject(definitions, pin)
      record(kind, ({ id }) => (before[id] ? { previous: before[id].hash } : {}))
    } catch (thrown) {
      if (thrown instanceof RpcError) record('decision refused', () => ({ decision: kind, reason: thrown.reason }))
      throw thrown
    }
    runtime.pinsChanged(one)
  }

  return {
    quarantined: async (name) => {
      const runtime = running()
      const all = name === undefined ? [...(runtime?.upstreams.values() ?? [])] : [upstreamOf(name).one]
      const tools = runtime ? listedTools(runtime) : []
      return all.flatMap((one) => one.quarantine.quarantined.map((each) => viewOf(one.upstream.name, each, tools)))
    },
    async diff(name) {
      const { runtime, one } = upstreamOf(name)
      const { quarantined, pins, offered } = one.quarantine
      const tools = listedTools(runtime)
      const textOf = async (hash: string | undefined): Promise<readonly string[]> => {
        const content = hash === undefined ? undefined : await pins?.contentOf(hash)
        return content ? textLinesOf(content) : []
      }
      const definitions: DefinitionDiff[] = []
      for (const each of quarantined) {
        const lines = diffLines(await textOf(each.accepted?.hash), textLinesOf(each.definition.content))
        definitions.push({ ...viewOf(name, each, tools), lines })
      }
      for (const [id, { hash }] of Object.entries(pins?.record?.accepted ?? {})) {
        if (!one.quarantine.listed || offered.has(id)) continue
        const lines = (await textOf(hash)).map((text): DiffLine => ({ change: 'removed', text }))
        definitions.push({ ...goneOf(name, id, hash), lines })
      }
      return { upstream: name, definitions, hash: hashOfAll(definitions) }
    },
    accept: (name, definitions, by) => decide(name, definitions, by, 'accepted'),
    reject: (name, definitions, by) => decide(name, definitions, by, 'rejected'),
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** A tenant's operator would decide for the other tenants, which use the same upstream. */
function assertReviewer({ operator, tenants }: Reviewer): void {
  if (!operator) throw new RpcError('forbidden', 'This needs the permission to decide about upstreams')
  if (tenants !== 'all')
    throw new RpcError('forbidden', 'All tenants use this upstream, so only an operator of all tenants may decide')
}

/** Returns the definition that the upstream lists now, if it has the hash that the operator was shown. */
function offeredOf({ quarantine, upstream }: RunningUpstream, { id, hash }: ReviewedDefinition): PinnedDefinition {
  if (!quarantine.pins)
    throw invalidParams(`definitions of ${upstream.name} are always trusted, so there is nothing to decide`)
  const offered = quarantine.offered.get(id)
  if (offered?.hash === hash) return offered
  throw new RpcError(
    'conflict',
    offered
      ? `${id} is not the definition that you were shown: it changed. Look at the differences again`
      : `${upstream.name} has no ${id} now. Look at the differences again`,
  )
}

/** Returns the tools that upstreams list. Those in quarantine count too. */
const listedTools = ({ upstreams }: Runtime): readonly UpstreamTool[] =>
  toolsOf([...upstreams.values()].map(({ upstream, quarantine: { listed } }) => ({ upstream, definitions: listed })))

function viewOf(upstream: string, quarantined: Quarantined, tools: readonly UpstreamTool[]): QuarantinedDefinition {
  const { definition, accepted, rejected } = quarantined
  const { id, kind, name, hash } = definition
  return {
    ...{ upstream, id, kind, name, hash },
    state: accepted ? 'changed' : 'new',
    ...(accepted && { acceptedHash: accepted.hash }),
    marks: marksOf(upstream, definition, tools),
    ...(rejected && { rejected: { by: rejected.by, at: rejected.at } }),
  }
}

const goneOf = (upstream: string, id: string, acceptedHash: string): QuarantinedDefinition => ({
  ...{ upstream, id, ...partsOf(id), hash: '', acceptedHash, marks: [], state: 'gone' },
})

const hashOfAll = (definitions: readonly QuarantinedDefinition[]): string =>
  digest(definitions.filter(({ state, rejected }) => state !== 'gone' && !rejected).map(({ id, hash }) => [id, hash]))
