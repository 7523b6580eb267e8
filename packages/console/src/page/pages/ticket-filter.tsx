/** The filters above the list of tickets: by text, tool, caller and server. */

import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { TicketSummary } from '../../api/index.ts'
import { Select, withAnyOption } from '../ui.tsx'

export interface TicketFilter {
  readonly text: string
  readonly tool: string
  readonly caller: string
  readonly server: string
}

export const noFilter: TicketFilter = { text: '', tool: '', caller: '', server: '' }
export const isFiltered = (filter: TicketFilter): boolean => Object.values(filter).some((value) => value !== '')

type NameField = 'tool' | 'caller' | 'server'
export type FilterNames = { readonly [field in NameField]: readonly string[] }

const fields: readonly (readonly [NameField, string, string])[] = [
  ['tool', 'Tool', 'All tools'],
  ['caller', 'Caller', 'All callers'],
  ['server', 'Server', 'All servers'],
]
const maxNames = 200

/** Collects the names for the filters. They only grow, so that an open list does not shrink. */
export function useFilterNames(tickets: readonly TicketSummary[], filter: TicketFilter): FilterNames {
  const [seen] = useState(() => ({ tool: new Set<string>(), caller: new Set<string>(), server: new Set<string>() }))
  for (const [field] of fields)
    for (const name of [filter[field], ...tickets.map((ticket) => ticket[field])])
      if (name !== '' && seen[field].size < maxNames) seen[field].add(name)
  return { tool: [...seen.tool].sort(), caller: [...seen.caller].sort(), server: [...seen.server].sort() }
}

/** The time after the last letter until the list is loaded again. */
const typingMs = 250

export function TicketFilters(props: {
  readonly filter: TicketFilter
  readonly names: FilterNames
  readonly isGrouped: boolean
  readonly onFilter: (filter: TicketFilter) => void
  readonly onGroup: (() => void) | undefined
}): JSX.Element {
  const { filter, names, onFilter } = props
  const [text, setText] = useState(filter.text)
  useEffect(() => {
    if (text === filter.text) return undefined
    const timer = setTimeout(() => onFilter({ ...filter, text }), typingMs)
    return () => clearTimeout(timer)
  }, [text, filter])
  return (
    <div class="filters">
      <input
        class="search"
        type="search"
        aria-label="Search tickets"
        placeholder="Search tickets"
        maxLength={256}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {fields.map(
        ([field, label, any]) =>
          // A single name leaves nothing to choose.
          names[field].length > 1 && (
            <Select
              key={field}
              label={label}
              value={filter[field]}
              options={withAnyOption(any, names[field])}
              onChoose={(value) => onFilter({ ...filter, [field]: value })}
            />
          ),
      )}
      {props.onGroup && (
        <button type="button" class="button small" aria-pressed={props.isGrouped} onClick={props.onGroup}>
          Group
        </button>
      )}
    </div>
  )
}
