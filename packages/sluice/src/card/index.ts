/** Server cards: printed from a definition, and served beside the endpoint. */

import type { DefinitionSummary, Page, SlotPlugin } from '../core/plugin.ts'
import { sha256 } from '../core/sha256.ts'
import type { CardOptions } from './documents.ts'
import { cardMediaType, serverCard } from './documents.ts'

export type { DefinitionSummary } from '../core/plugin.ts'
export type { CardOptions, CardPackage, Repository } from './documents.ts'
export { catalogEntry, serverCard, serverJson } from './documents.ts'

/**
 * Serves the server card at the address of the endpoint followed by `/server-card`, where the specification reserves a
 * place for it. Every reader may see it, so it has no more than the name, the description and the address.
 */
export const card = (options: CardOptions & { readonly url: string }): SlotPlugin<'custom'> => ({
  slot: 'custom',
  create() {
    const { pathname } = new URL(options.url)
    let page: Page | undefined
    return {
      accepts(definition) {
        page = toPage(definition, options)
      },
      // Of several servers on a port, each sees the path below its own.
      routes: async (path) =>
        path.endsWith('/server-card') && `${pathname}/server-card`.endsWith(path) ? page : undefined,
    }
  },
})

function toPage(definition: DefinitionSummary, options: CardOptions): Page {
  const body = JSON.stringify(serverCard(definition, options))
  return {
    status: 200,
    headers: {
      'content-type': cardMediaType,
      'cache-control': 'public, max-age=3600',
      etag: `"${sha256(body)}"`,
      // The card is public, so pages of any origin may read it.
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET',
      'access-control-allow-headers': 'Content-Type, If-None-Match',
      'access-control-expose-headers': 'ETag',
    },
    body,
  }
}
