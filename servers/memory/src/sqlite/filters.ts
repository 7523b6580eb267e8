/** Converts filters to the named parameters of `matchesFilters`. */

import type { SQLInputValue } from 'node:sqlite'
import type { Filters } from '../archive.ts'

/** Returns `undefined` without filters, because the plain statements are faster. */
export function bindFilters(filters: Filters, workspace: number): Record<string, SQLInputValue> | undefined {
  const { tags, source, from, to } = filters
  if (tags.length === 0 && source === undefined && from === undefined && to === undefined) return undefined
  return everyFilter(filters, workspace)
}

export const everyFilter = ({ tags, source, from, to }: Filters, workspace: number): Record<string, SQLInputValue> => ({
  workspace,
  source: source ?? null,
  from: from ?? null,
  to: to ?? null,
  tags: tags.length > 0 ? JSON.stringify(tags) : null,
})
