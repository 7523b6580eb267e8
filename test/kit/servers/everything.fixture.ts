/**
 * One server with every feature, written as a user of Sluice would. The official clients, the Inspector and our own
 * matrix of revisions and transports test it.
 *
 * `node test/kit/servers/everything.fixture.ts` serves it over HTTP and prints the address, `--stdio` over stdio; both
 * on the build.
 */

import type { Server, ServerDefinition, ServerOptions } from 'sluice'
import { defineServer, prompt, resource, tool } from 'sluice'
import { createServer, serveHttp, serveStdio } from 'sluice/node'
import { elicitation, idempotency } from 'sluice/plugins'
import { contentTools, icons } from './everything/content-tools.ts'
import { elicitationTools } from './everything/elicitation-tools.ts'
import { longRunningTools } from './everything/long-running-tools.ts'
import { prompts, resources } from './everything/resources-and-prompts.ts'

/** Small enough that every list has several pages. */
export const pageSize = 4

/** These come and go, so that subscribers are notified. */
const passing = {
  tools: tool({ name: 'passing', description: 'Sometimes there', run: () => 'Still there' }),
  prompts: prompt({ name: 'passing', description: 'Sometimes there', run: () => 'Still there' }),
  resources: resource({ uri: 'note://passing', name: 'passing', read: () => 'Still there' }),
}

export function createEverything(runtime: ServerOptions = {}): Server {
  const shown = { tools: false, prompts: false, resources: false }
  const tools = [
    ...contentTools,
    ...elicitationTools,
    ...longRunningTools((list) => {
      shown[list] = !shown[list]
      server.update(current())
    }),
  ]
  const current = (): ServerDefinition =>
    defineServer({
      name: 'everything',
      version: '1.2.3',
      title: 'Everything',
      description: 'A server with everything in it',
      websiteUrl: 'https://example.com/everything',
      icons,
      instructions: 'Try one after the other',
      tools: [...tools, ...(shown.tools ? [passing.tools] : [])],
      prompts: [...prompts, ...(shown.prompts ? [passing.prompts] : [])],
      resources: [...resources, ...(shown.resources ? [passing.resources] : [])],
    })
  const server: Server = createServer(current(), {
    pageSize,
    ...runtime,
    use: [elicitation(), idempotency(), ...(runtime.use ?? [])],
  })
  return server
}

if (import.meta.main) {
  const [pages] = process.argv.flatMap((argument) => /^--page-size=(\d+)$/.exec(argument)?.[1] ?? [])
  const everything = createEverything(pages === undefined ? {} : { pageSize: Number(pages) })
  if (process.argv.includes('--stdio')) serveStdio(everything)
  else console.log((await serveHttp(everything, { port: 0 })).url)
}
