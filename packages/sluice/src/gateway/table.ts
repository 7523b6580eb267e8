/**
 * The names and URIs of the endpoint for all upstreams. Each has one owner. The owner of a name keeps it, so that a later
 * list of another upstream cannot take it over. Names are looked up, never parsed.
 */

import type { UriTemplate } from '../core/uri-template.ts'
import { parseTemplate } from '../core/uri-template.ts'
import { toAscii } from '../core/uri-template-match.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import type { Naming } from './endpoint.ts'
import type { LeftOut, Upstream } from './types.ts'

/** Which upstream owns each name: keys are a kind and a name. */
export type Owners = ReadonlyMap<string, string>

/** An upstream whose definitions are known. */
export interface Claimant {
  readonly upstream: Upstream
  readonly definitions: UpstreamDefinitions
  /** The names of its tools, as rules give them. */
  readonly toolNames: readonly string[]
}

export interface NameTable {
  readonly owners: Owners
  /** Returns how the endpoint for all names the definitions of an upstream. */
  namingOf(upstream: string): Naming
  /** Returns the upstream that owns a URI, by its list or by its templates. */
  ownerOfUri(uri: string): string | undefined
}

const keyOf = (kind: LeftOut['kind'], name: string): string => `${kind} ${name}`

/** Returns the name on the endpoint for all. */
const prefixed = ({ name, prefix = name }: Upstream, own: string): string => (prefix === '' ? own : `${prefix}_${own}`)

interface OwnedTemplate {
  readonly owner: string
  readonly literal: string
  readonly template: UriTemplate
}

/** Makes the table. `previous` are the owners so far, which keep what they still list. */
export function createTable(claimants: readonly Claimant[], previous: Owners): NameTable {
  const owners = new Map<string, string>()
  const templates: OwnedTemplate[] = []
  const reasons = new Map<string, string>()
  const refuse = (upstream: string, key: string, reason: string): unknown => reasons.set(`${upstream} ${key}`, reason)

  /** The owners so far first, then in the order of the configuration. */
  function claim(kind: LeftOut['kind'], namesOf: (claimant: Claimant) => readonly string[], take: ClaimCheck): void {
    const claims = claimants.flatMap((claimant) =>
      namesOf(claimant).map((name) => ({ key: keyOf(kind, name), name, owner: claimant.upstream.name })),
    )
    const isOld = ({ key, owner }: Claim): boolean => previous.get(key) === owner
    for (const each of [...claims.filter(isOld), ...claims.filter((one) => !isOld(one))]) {
      const owner = owners.get(each.key)
      const reason = owner === undefined ? take(each) : owner === each.owner ? undefined : `${owner} has it too`
      if (reason === undefined) owners.set(each.key, each.owner)
      else refuse(each.owner, each.key, reason)
    }
  }
  const always: ClaimCheck = () => undefined
  claim('tool', ({ upstream, toolNames }) => toolNames.map((name) => prefixed(upstream, name)), always)
  claim(
    'prompt',
    ({ upstream, definitions }) => textsOf(definitions.prompts, 'name').map((own) => prefixed(upstream, own)),
    always,
  )
  claim(
    'template',
    ({ definitions }) => textsOf(definitions.templates, 'uriTemplate'),
    ({ name, owner }) => {
      const [literal = ''] = name.split('{', 1)
      if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^{]+/.test(literal)) return 'it could claim the resources of other upstreams'
      const other = templates.find(
        (each) => each.owner !== owner && (each.literal.startsWith(literal) || literal.startsWith(each.literal)),
      )
      if (other) return `${other.owner} has a template for the same URIs`
      try {
        templates.push({ owner, literal, template: parseTemplate(name) })
        return undefined
      } catch (thrown) {
        return thrown instanceof Error ? thrown.message : 'it cannot be read'
      }
    },
  )
  claim(
    'resource',
    ({ definitions }) => textsOf(definitions.resources, 'uri'),
    ({ name, owner }) => {
      const covering = templateOwner(name)
      return covering === undefined || covering === owner ? undefined : `${covering} has a template for this URI`
    },
  )

  function templateOwner(uri: string): string | undefined {
    if (!templates.some(({ literal }) => uri.startsWith(literal))) return undefined
    const text = toAscii(uri) ?? ''
    return templates.find(({ template }) => template.match(text) !== undefined)?.owner
  }

  const byName = new Map(claimants.map(({ upstream }) => [upstream.name, upstream]))
  return {
    owners,
    namingOf: (owner) => (kind, own) => {
      const upstream = byName.get(owner)
      const name = upstream && (kind === 'tool' || kind === 'prompt') ? prefixed(upstream, own) : own
      const key = keyOf(kind, name)
      if (owners.get(key) === owner) return name
      return { reason: `not on the endpoint for all: ${reasons.get(`${owner} ${key}`) ?? 'it has another owner'}` }
    },
    ownerOfUri: (uri) => owners.get(keyOf('resource', uri)) ?? templateOwner(uri),
  }
}

interface Claim {
  readonly key: string
  readonly name: string
  readonly owner: string
}
/** Returns why a claim is refused; `undefined` if it is taken. */
type ClaimCheck = (claim: Claim) => string | undefined

const textsOf = (entries: readonly { readonly [member: string]: unknown }[], member: string): readonly string[] =>
  entries.flatMap(({ [member]: text }) => (typeof text === 'string' ? [text] : []))
