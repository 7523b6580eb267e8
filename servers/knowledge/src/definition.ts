/** A base of articles as an MCP server. Plain data: the same on Node and on the edge. */

import { defineServer, type Layer, type ServerDefinition } from 'sluice'
import { Prepared } from 'sluice/extend'
import type { App } from './app.ts'
import { promptsOf } from './prompts.ts'
import { resourcesOf } from './resources.ts'
import { toolsOf } from './tools.ts'
import { version } from './version.ts'

/** `ASDLC` is `asdlc-knowledge-base`. */
const nameOf = (title: string): string => {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return [...words, 'knowledge-base'].join('-')
}

/** The server of a base. */
export const knowledge = (base: App): ServerDefinition =>
  defineServer({
    name: nameOf(base.title),
    version,
    title: `${base.title} knowledge base`,
    instructions: `Articles about ${base.title}. Search before you answer, then get the article by the slug you were given; never guess a slug. Cite articles as [collection/slug].`,
    tools: toolsOf(base),
    resources: resourcesOf(base),
    prompts: promptsOf(base),
  })

/** Some clients read name and version at the top of the initialize result; MCP has them in `serverInfo`. Here they are in both. */
export const flatInfo =
  ({ name, version }: ServerDefinition): Layer =>
  (next) =>
    async function flatInfo(call) {
      const answer = await next(call)
      return call.method !== 'initialize' || answer instanceof Prepared ? answer : { name, version, ...answer }
    }
