/** A server whose lists differ by caller and have several pages. */

import type { Server } from 'sluice'
import { defineServer, resource, tool } from 'sluice'
import { createServer } from 'sluice/node'
import * as z from 'zod'

export function createPagedServer(): { readonly server: Server; notify(): void } {
  const named = (name: string, scopes: readonly string[] = []): ReturnType<typeof tool> =>
    tool({ name, description: name, scopes, run: () => name })
  const definition = defineServer({
    name: 'lists',
    version: '1',
    tools: [
      tool({
        name: 'many',
        description: 'Takes many numbers',
        input: z.object({ values: z.array(z.number()) }),
        run: () => 'ran',
      }),
      ...Array.from({ length: 9 }, (_, index) => named(`tool-${index}`, index % 3 === 0 ? ['admin'] : [])),
    ],
    resources: [
      ...Array.from({ length: 4 }, (_, index) =>
        resource({ uri: `note://${index}`, name: `note ${index}`, read: () => 'x' }),
      ),
      resource({
        uri: 'mine://{x}',
        name: 'mine',
        list: () => ({ resources: [{ uri: 'mine://1', name: 'one' }] }),
        read: () => 'x',
      }),
    ],
    listTtlMs: 60_000,
  })
  const server = createServer(definition, { pageSize: 2 })
  return {
    server,
    notify: () =>
      server.update({
        ...definition,
        tools: [...(definition.tools ?? []), named(`new-${Math.random().toString(36).slice(2)}`)],
      }),
  }
}
