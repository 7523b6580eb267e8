/**
 * An index file as a fetch handler, for workerd, Deno, Bun and whatever else has no file system:
 *
 *   import { serve } from '@sluice/knowledge/edge'
 *   import index from './knowledge.json' with { type: 'json' }
 *   export default { fetch: serve(index, { hosts: ['docs.example.com'] }) }
 */

import { createServer, type Skills } from 'sluice'
import { type FetchHandler, type HttpOptions, toFetch } from 'sluice/fetch'
import { customLayer } from 'sluice/plugins'
import { flatInfo, knowledge } from './definition.ts'
import { fromIndex } from './index-file.ts'

export { skillsOf } from './skills.ts'

export interface EdgeOptions extends Pick<HttpOptions, 'hosts' | 'origins'> {
  /** The skills of the index file: `skillsOf(index)`. Left out by default, because a worker then carries a YAML reader. */
  readonly skills?: Skills | undefined
}

/** Serves without sessions: the next request may reach another isolate, and nothing here needs a session. */
export function serve(index: unknown, { skills, ...options }: EdgeOptions = {}): FetchHandler {
  const definition = knowledge(fromIndex(index), skills)
  return toFetch(createServer(definition, { use: [customLayer(flatInfo(definition))] }), options)
}
