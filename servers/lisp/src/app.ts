/** Defines what the tools share: one Lisp session per tenant. */

import { fail } from 'sluice'
import type { ImageOptions } from './image.ts'
import { missingPrograms } from './image.ts'
import { allowedFunctions } from './reading.ts'
import type { Session } from './session.ts'
import { createSession } from './session.ts'

/** One image per tenant, because a tenant must not see another's definitions. */
export interface App {
  sessionOf(tenant: string): Session
  readonly missing: string | undefined
  /** The functions that `repl_read` calls without an approval; the operator's choice. */
  readonly readFunctions: ReadonlySet<string>
  close(): Promise<void>
}

/** Each image takes some hundred megabytes. */
const defaultMaxImages = 8

export function createApp(options: ImageOptions & { readonly maxImages?: number }): App {
  const { maxImages = defaultMaxImages } = options
  const readFunctions = allowedFunctions(options.env['LISP_READ_FUNCTIONS'])
  const sessions = new Map<string, Session>()
  function allow(): void {
    if ([...sessions.values()].filter(({ hasImage }) => hasImage).length >= maxImages)
      throw fail('Too many Lisp images are running; try again when another tenant has disconnected.')
  }
  return {
    readFunctions,
    get missing() {
      return options.env['SWANK_PORT'] ? undefined : missingPrograms(options.env)
    },
    sessionOf(tenant) {
      const known = sessions.get(tenant)
      if (known) return known
      const made = createSession(options, allow)
      sessions.set(tenant, made)
      return made
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.disconnect()))
    },
  }
}
