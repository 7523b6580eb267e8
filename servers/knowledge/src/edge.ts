/**
 * An index file as a fetch handler, for workerd, Deno, Bun and whatever else has no file system:
 *
 *   import { serve } from '@sluice/knowledge/edge'
 *   import index from './knowledge.json' with { type: 'json' }
 *   export default { fetch: serve(index, { hosts: ['docs.example.com'] }) }
 */

import { createServer } from 'sluice'
import { type FetchHandler, type HttpOptions, toFetch } from 'sluice/fetch'
import { customLayer } from 'sluice/plugins'
import { flatInfo, knowledge } from './definition.ts'
import { fromIndex } from './index-file.ts'
import { skillsOf } from './skills.ts'

/** Serves without sessions: the next request may reach another isolate, and nothing here needs a session. */
export function serve(index: unknown, options: Pick<HttpOptions, 'hosts' | 'origins'> = {}): FetchHandler {
  const definition = knowledge(fromIndex(index), skillsOf(index))
  return toFetch(createServer(definition, { use: [customLayer(flatInfo(definition))] }), options)
}
