/**
 * The names and URIs of the endpoint for all upstreams. Each has one owner. The owner of a name keeps it, so that a later
 * list of another upstream cannot take it over. Names are looked up, never parsed.
 */

import type { UriTemplate } from '../core/uri-template.ts'
import { parseTemplate } from '../core/uri-template.ts'
import { toAscii } from '../core/uri-template-match.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import type { Naming } from './endpoint.ts'
import { skillUris } from './skill-uris.ts'
import type { LeftOut, Upstream } from './types.ts'
import { skillUrisOf } from './upstream-skills.ts'

/** Which upstream owns each name: keys are a kind and a name. */
export type Owners = ReadonlyMap<string, string>

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

const prefixed = ({ name, prefix = name }: Upstream, own: string): string => (prefix === '' ? own : `${prefix}_${own}`)

const nameOf = (upstream: Upstream, kind: LeftOut['kind'], own: string): string =>
  kind === 'tool' || kind === 'prompt' ? prefixed(upstream, own) : skillUris(upstream).shown(own)

const shownOf = ({ upstream }: Claimant, uris: readonly string[]): readonly string[] =>
  uris.map(skillUris(upstream).shown)

const overlaps = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one)

interface OwnedTemplate {
  readonly owner: string
  readonly literal: string
  readonly template: UriTemplate
}
interface OwnedFolder {
  readonly owner: string
  /** The URI of a skill's folder, with a slash at its end. */
  readonly folder: string
}

/**
 * Makes the table. `previous` are the owners so far, which keep what they still list. The upstreams in `absent` have no
 * definitions yet: they keep everything, because another one must not take a name while its owner is down.
 */
export function createTable(
  claimants: readonly Claimant[],
  previous: Owners,
  absent: ReadonlySet<string> = new Set(),
): NameTable {
  const owners = new Map([...previous].filter(([, owner]) => absent.has(owner)))
  const templates: OwnedTemplate[] = []
  const folders: OwnedFolder[] = []
  const reasons = new Map<string, string>()
  const refuse = (upstream: string, key: string, reason: string): unknown => reasons.set(`${upstream} ${key}`, reason)

  /** The owners so far first, then in the order of the configuration. */
  function claim(kind: LeftOut['kind'], namesOf: (claimant: Claimant) => readonly string[], take?: ClaimCheck): void {
    const claims = claimants.flatMap((claimant) =>
      namesOf(claimant).map((name) => ({ key: keyOf(kind, name), name, owner: claimant.upstream.name })),
    )
    const isOld = ({ key, owner }: Claim): boolean => previous.get(key) === owner
    for (const each of [...claims.filter(isOld), ...claims.filter((one) => !isOld(one))]) {
      const owner = owners.get(each.key)
      const reason = owner === undefined ? take?.(each) : owner === each.owner ? undefined : `${owner} has it too`
      if (reason === undefined) owners.set(each.key, each.owner)
      else refuse(each.owner, each.key, reason)
    }
  }
  claim('tool', ({ upstream, toolNames }) => toolNames.map((name) => prefixed(upstream, name)))
  claim('prompt', ({ upstream, definitions }) =>
    textsOf(definitions.prompts, 'name').map((own) => prefixed(upstream, own)),
  )
  claim(
    'template',
    (claimant) => shownOf(claimant, textsOf(claimant.definitions.templates, 'uriTemplate')),
    ({ name, owner }) => {
      const [literal = ''] = name.split('{', 1)
      if (!/^[A-Za-z][A-Za-z0-9+.-]*:[^{]+/.test(literal)) return 'it could claim the resources of other upstreams'
      const other = templates.find((each) => each.owner !== owner && overlaps(each.literal, literal))
      if (other) return `${other.owner} has a template for the same URIs`
      try {
        templates.push({ owner, literal, template: parseTemplate(name) })
        return undefined
      } catch (thrown) {
        return thrown instanceof Error ? thrown.message : 'it cannot be read'
      }
    },
  )
  // Before the resources: a file inside a skill of another upstream would change what an agent reads there.
  claim(
    'skill',
    (claimant) => shownOf(claimant, skillUrisOf(claimant.definitions)),
    ({ name, owner }) => {
      const folder = name.slice(0, name.lastIndexOf('/') + 1)
      const other = templateOwner(name) ?? folders.find((each) => overlaps(each.folder, folder))?.owner
      if (other !== undefined && other !== owner) return `${other} has these URIs`
      const earlier = [...previous].find(([key, by]) => by !== owner && key.startsWith(keyOf('resource', folder)))
      if (earlier) return `${earlier[1]} has a resource inside it`
      folders.push({ owner, folder })
      return undefined
    },
  )
  claim(
    'resource',
    (claimant) => shownOf(claimant, textsOf(claimant.definitions.resources, 'uri')),
    ({ name, owner }) => {
      const covering = templateOwner(name)
      if (covering !== undefined && covering !== owner) return `${covering} has a template for this URI`
      const other = folderOwner(name)
      return other === undefined || other === owner ? undefined : `it is inside a skill of ${other}`
    },
  )

  function folderOwner(uri: string): string | undefined {
    return folders.find(({ folder }) => uri.startsWith(folder) || `${uri}/` === folder)?.owner
  }

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
      const name = upstream ? nameOf(upstream, kind, own) : own
      const key = keyOf(kind, name)
      if (owners.get(key) === owner) return name
      return { reason: `not on the endpoint for all: ${reasons.get(`${owner} ${key}`) ?? 'it has another owner'}` }
    },
    ownerOfUri: (uri) => owners.get(keyOf('resource', uri)) ?? templateOwner(uri) ?? folderOwner(uri),
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
