/** The three methods of the extension: list the skills, get one, and read a directory of one. */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { ExtensionMethod } from '../protocol/extend-registry.ts'
import { fromCursor, toCursor } from '../protocol/lists.ts'
import { uriOf } from '../protocol/registry.ts'
import type { Skill } from './skill.ts'

export const extension = 'io.modelcontextprotocol/skills'

interface ListOptions {
  readonly pageSize: number
  readonly ttlMs: number
}

export const skillList = (
  skills: readonly { readonly uri: string }[],
  { pageSize, ttlMs }: ListOptions,
): ExtensionMethod => ({
  name: 'skills/list',
  async run(call): Promise<Result> {
    const { shown, next } = pageOf('skills', skills, pageSize, call)
    // Every caller gets the same.
    return { skills: shown, ...next, ttlMs, cacheScope: 'public' }
  },
})

function pageOf<T extends { readonly uri?: unknown }>(
  list: string,
  items: readonly T[],
  pageSize: number,
  { params: { cursor } }: Call,
): { readonly shown: readonly T[]; readonly next: Params } {
  const from = cursor === undefined ? 0 : indexAfter(items, fromCursor(list, cursor))
  const shown = items.slice(from, from + pageSize)
  const last = from + pageSize < items.length ? shown.at(-1) : undefined
  return { shown, next: last ? { nextCursor: toCursor(list, String(last.uri)) } : {} }
}

/** `directories` has the children of each directory, by its URI. */
export function skillMethods(
  skills: readonly Skill[],
  directories: ReadonlyMap<string, readonly Params[]>,
  options: ListOptions,
): readonly ExtensionMethod[] {
  const { pageSize, ttlMs } = options
  const byUri = new Map(skills.map((skill) => [skill.uri, skill]))
  const cache = { ttlMs, cacheScope: 'public' } as const
  return [
    skillList(skills, options),
    {
      name: 'skills/get',
      async run({ params }): Promise<Result> {
        const skill = byUri.get(uriOf(params))
        if (!skill) throw invalidParams('unknown skill; skills/list has the URIs')
        return { skill, ...cache }
      },
    },
    {
      name: 'resources/directory/read',
      async run(call): Promise<Result> {
        const uri = uriOf(call.params)
        const children = directories.get(uri)
        if (!children) throw invalidParams('not a directory')
        const { shown, next } = pageOf(`directory ${uri}`, children, pageSize, call)
        return { resources: shown, ...next, ...cache }
      },
    },
  ]
}

function indexAfter(items: readonly { readonly uri?: unknown }[], uri: string): number {
  const index = items.findIndex((item) => item.uri === uri)
  if (index === -1) throw invalidParams('unknown cursor; list again from the start')
  return index + 1
}
