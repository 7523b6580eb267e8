/** Arguments that several tools share, with the limits of the memory document. */

import * as z from 'zod'
import type { Filters } from './archive.ts'

/** The phrase to type before everything is deleted. */
export const clearPhrase = 'DELETE ALL MEMORIES'

/** PostgreSQL cannot store NUL, and no useful text contains it. */
const withoutNul = (text: string): boolean => !text.includes('\0')
const nul = 'must not contain the NUL character'
const source = z.string().min(1).max(1000).refine(withoutNul, nul)
const tags = z.array(z.string().min(1).max(100).refine(withoutNul, nul)).max(50)

export const longText = z
  .string()
  .min(1, { error: 'cannot be empty', abort: true })
  .max(10_000_000, 'exceeds 10,000,000 characters')
  .refine((text) => text.trim() !== '', 'cannot be empty or white space only')
  .refine(withoutNul, nul)

export const shortText = (maxLength: number) =>
  z
    .string()
    .min(1, { error: 'cannot be empty', abort: true })
    .max(maxLength, `exceeds ${maxLength.toLocaleString('en')} characters`)
    .refine((text) => text.trim() !== '', 'cannot be empty or white space only')
    .refine(withoutNul, nul)

export const workspaceId = z
  .string()
  .min(1, { error: 'cannot be empty', abort: true })
  .max(64, 'exceeds 64 characters')
  .regex(/^[a-zA-Z0-9_-]+$/, 'may contain only letters, digits, _ and -')

export const inWorkspace = workspaceId.optional().describe('The workspace to use instead of the current one')

export const memoryId = z.uuid('is not a UUID').describe('The ID that add_memory or search_memory returned')

/** A day or a time. Without a zone it is UTC, so that the same text means the same everywhere. */
const timestampPattern = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?)?$/i
const isTimestamp = (text: string): boolean =>
  timestampPattern.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(toTime(text))
/** Refuses the 31st of February, which `Date` would read as the 3rd of March. */
const isDay = (day: string): boolean => {
  const at = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day)
}
export const date = z
  .string()
  .max(40, 'exceeds 40 characters')
  .refine(isTimestamp, 'is not an ISO 8601 date such as 2026-01-31 or 2026-01-31T12:00:00Z')

/** With `end`, a day without a time means its last millisecond. */
export function toTime(text: string, end = false): number {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return Date.parse(`${text}T${end ? '23:59:59.999' : '00:00:00.000'}Z`)
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/i.test(text) ? text : `${text}Z`
  return Date.parse(zoned.replace(' ', 'T').replace(/([+-]\d{2})(\d{2})$/, '$1:$2'))
}

export const filters = z
  .strictObject({
    tags: tags.optional().describe('Memories with any of these tags'),
    source: source.optional().describe('Memories with exactly this source'),
    date_from: date.optional().describe('Not before this date (ISO 8601; UTC by default)'),
    date_to: date.optional().describe('Not after this date; a day includes its last moment'),
  })
  .optional()
  .describe('Only memories that match all of these')

export const toFilters = (input: z.infer<typeof filters>): Filters => ({
  tags: (input?.tags ?? []).map((tag) => tag.toWellFormed()),
  source: input?.source?.toWellFormed(),
  from: input?.date_from === undefined ? undefined : toTime(input.date_from),
  to: input?.date_to === undefined ? undefined : toTime(input.date_to, true),
})

/** Checks the known names. Everything else that an agent notes beside a memory is stored as it is. */
export const metadata = z
  .looseObject({
    source: source.optional(),
    tags: tags.optional(),
    timestamp: date.optional().describe('When it was true (ISO 8601); now by default'),
    language: z.string().max(35).optional(),
  })
  .refine((value) => JSON.stringify(value).length <= 65_536, 'exceeds 65,536 characters as JSON')
  // Without pairs of backslashes, so that the words "\\u0000" in a text are not taken for the character.
  .refine((value) => !JSON.stringify(value).replaceAll('\\\\', '').includes('\\u0000'), nul)
