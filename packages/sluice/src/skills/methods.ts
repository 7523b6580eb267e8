/** The three methods of the extension: list the skills, get one, and read a directory of one. */

import type { Result } from '../core/answer.ts'
import type { Call } from '../core/call.ts'
import { invalidParams } from '../core/error.ts'
import type { Params } from '../core/json.ts'
import type { ExtensionMethod } from '../protocol/extend-registry.ts'
import { fromCursor, toCursor } from '../protocol/lists.ts'
import { maxUriLength } from '../protocol/subscriptions.ts'
import type { Skill } from './skill.ts'

export const extension = 'io.modelcontextprotocol/skills'

/** `directories` has the children of each directory, by its URI. */
export function skillMethods(
  skills: readonly Skill[],
  directories: ReadonlyMap<string, readonly Params[]>,
  { pageSize, ttlMs }: { readonly pageSize: number; readonly ttlMs: number },
): readonly ExtensionMethod[] {
  const byUri = new Map(skills.map((skill) => [skill.uri, skill]))
  // Every caller gets the same.
  const cache = { ttlMs, cacheScope: 'public' } as const
  const page = <T extends { readonly uri?: unknown }>(
    list: string,
    items: readonly T[],
    { params: { cursor } }: Call,
  ): { readonly shown: readonly T[]; readonly next: Params } => {
    const from = cursor === undefined ? 0 : indexAfter(items, fromCursor(list, cursor))
    const shown = items.slice(from, from + pageSize)
    const last = from + pageSize < items.length ? shown.at(-1) : undefined
    return { shown, next: last ? { nextCursor: toCursor(list, String(last.uri)) } : {} }
  }
  return [
    {
      name: 'skills/list',
      async run(call): Promise<Result> {
        const { shown, next } = page('skills', skills, call)
        return { skills: shown, ...next, ...cache }
      },
    },
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
        const { shown, next } = page(`directory ${uri}`, children, call)
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

function uriOf({ uri }: Params): string {
  if (typeof uri !== 'string') throw invalidParams('missing uri')
  if (uri.length > maxUriLength) throw invalidParams(`uri is longer than ${maxUriLength} characters`)
  return uri
}
