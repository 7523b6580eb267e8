/** The provider without key and network: the atlas. Its answers say that they are approximate. */

import type { Atlas } from '../atlas/thread.ts'
import type { Provider } from '../route.ts'

export const offline = (atlas: Pick<Atlas, 'geocode' | 'route'>): Provider => ({
  name: 'offline',
  approximate: true,
  hasTraffic: false,
  route: ({ places, mode, language, alternatives }) => atlas.route({ places, mode, language, alternatives }),
  geocode: (text, language) => atlas.geocode(text, language),
})
