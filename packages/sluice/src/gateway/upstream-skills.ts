/**
 * The skills of upstreams, served on 2026-07-28. The list comes from the stored definitions, like every list. A skill
 * and a directory are read from the upstream, which also serves skills that it does not list. The files of a skill are
 * never read ahead: clients decide which ones they need.
 */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { digest } from '../core/digest.ts'
import { invalidParams, RpcError } from '../core/error.ts'
import type { Json, Params } from '../core/json.ts'
import { isObject } from '../core/json.ts'
import type { Skills } from '../protocol/definition.ts'
import type { ExtensionMethod } from '../protocol/extend-registry.ts'
import { extendMethods } from '../protocol/extend-registry.ts'
import { uriOf } from '../protocol/registry.ts'
import { extension, skillList } from '../skills/methods.ts'
import type { UpstreamDefinitions } from './definitions.ts'
import { withCleanMeta } from './hygiene.ts'
import type { UriNames } from './skill-uris.ts'
import { withShownUri } from './skill-uris.ts'
import type { TargetContext } from './targets.ts'

export interface SkillSource {
  readonly definitions: UpstreamDefinitions
  readonly context: TargetContext
  readonly uris: UriNames
  /** Returns whether the endpoint lists a skill, by the upstream's own URI. */
  lists(uri: string): boolean
  /** Returns whether a URI for clients belongs to this upstream. */
  owns(uri: string): boolean
}

/** Returns the settings of the extension that an upstream declares; `undefined` if it has no skills. */
export function skillSettings({ extensions }: Params): Params | undefined {
  const settings = isObject(extensions) ? extensions[extension] : undefined
  return isObject(settings) ? settings : undefined
}

/** Returns the skills of one or more upstreams; `undefined` if none has any. */
export function upstreamSkills(all: readonly SkillSource[]): Skills | undefined {
  const sources = all.filter(({ definitions }) => skillSettings(definitions.capabilities))
  if (sources.length === 0) return undefined
  // A method that works for some skills only would be a false promise.
  const directoryRead = sources.every(
    ({ definitions }) => skillSettings(definitions.capabilities)?.['directoryRead'] === true,
  )
  const listed = sources.flatMap(({ definitions: { skills = [] }, uris, lists }) =>
    skills.filter(isSkill).flatMap((skill) => (lists(skill.uri) ? [toShown(skill, uris)] : [])),
  )
  const sourceOf = (uri: string, problem: string): SkillSource => {
    const source = sources.find(({ owns }) => owns(uri))
    if (!source) throw invalidParams(problem)
    return source
  }
  const methods: readonly ExtensionMethod[] = [
    {
      name: 'skills/get',
      async run(call): Promise<Result> {
        const uri = uriOf(call.params)
        const source = sourceOf(uri, 'unknown skill; skills/list has the URIs')
        const answer = await relayed(source, 'skills/get', { uri: source.uris.original(uri) }, call)
        const { skill } = answer
        if (!isSkill(skill)) throw unreadable(source, 'skill')
        return { ...answer, skill: toShown(skill, source.uris) }
      },
    },
    {
      name: 'resources/directory/read',
      async run(call): Promise<Result> {
        const { cursor } = call.params
        const uri = uriOf(call.params)
        const source = sourceOf(uri, 'not a directory')
        const params = { uri: source.uris.original(uri), ...(cursor !== undefined && { cursor }) }
        const answer = await relayed(source, 'resources/directory/read', params, call)
        const { resources } = answer
        if (!Array.isArray(resources)) throw unreadable(source, 'resources')
        const entries = resources.filter(isObject)
        return { ...answer, resources: entries.map((entry) => withShownUri(withCleanMeta(entry), source.uris)) }
      },
    },
  ]
  return {
    resources: [],
    extendRegistry: (registry, pageSize, ttlMs = 0) =>
      extendMethods(registry, {
        ...{ extension, settings: directoryRead ? { directoryRead } : {}, readOnly: true },
        methods: [
          skillList(listed, { pageSize, ttlMs }),
          ...methods.filter(({ name }) => directoryRead || name !== 'resources/directory/read'),
        ],
      }),
  }
}

async function relayed({ context }: SkillSource, method: string, params: Params, call: Call): Promise<Result> {
  return { ttlMs: 0, cacheScope: 'private', ...(await context.relay(call, { method, params })) }
}

const unreadable = ({ context }: SkillSource, member: string): RpcError =>
  new RpcError('upstreamError', `${context.upstream} answered with a result that has no "${member}"`)

/** A skill as an upstream lists it. Its fields are the upstream's own. */
interface ListedSkill extends Params {
  readonly uri: string
}
const isSkill = (skill: unknown): skill is ListedSkill =>
  isObject(skill) && typeof skill['uri'] === 'string' && isObject(skill['frontmatter'])

function toShown(skill: ListedSkill, uris: UriNames): ListedSkill {
  const { resources } = skill
  const shown = withShownUri(withCleanMeta(skill), uris)
  if (!Array.isArray(resources)) return shown
  return { ...shown, resources: resources.map((file) => (isObject(file) ? withShownUri(file, uris) : file)) }
}

export const skillUrisOf = ({ skills = [] }: UpstreamDefinitions): readonly string[] =>
  skills.filter(isSkill).map(({ uri }) => uri)

/**
 * Marks the resource of a SKILL.md with a hash of its skill. A changed file changes the mark, so that clients are
 * notified although the resource itself stays the same.
 */
export function withSkillDigests({ resources, skills = [] }: UpstreamDefinitions): readonly Params[] {
  if (skills.length === 0) return resources
  const byUri = new Map(skills.filter(isSkill).map((skill) => [skill.uri, skill]))
  return resources.map((entry) => {
    const skill = byUri.get(String(entry['uri']))
    if (!skill) return entry
    const { _meta } = withCleanMeta(entry)
    return { ...entry, _meta: { ...(isObject(_meta) && _meta), 'dev.sluice/digest': digest(skill as Json) } }
  })
}
