/** A knowledge base as an MCP server. Plain data, so that it is the same on Node and on the edge. */

import { defineServer, type Layer, type ServerDefinition, type Skills } from 'sluice'
import { Prepared } from 'sluice/extend'
import type { KnowledgeBase } from './knowledge-base.ts'
import { promptsOf } from './prompts.ts'
import { resourcesOf } from './resources.ts'
import { toolsOf } from './tools.ts'
import { version } from './version.ts'

/** Turns a title into a server name: `ASDLC` becomes `asdlc-knowledge-base`. */
const nameOf = (title: string): string => {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? []
  return [...words, 'knowledge-base'].join('-')
}

/** Defines the MCP server of a knowledge base, with skills beside its articles if there are any. */
export const knowledge = (base: KnowledgeBase, skills?: Skills): ServerDefinition =>
  defineServer({
    name: nameOf(base.title),
    version,
    title: `${base.title} knowledge base`,
    instructions: `Articles about ${base.title}. Search before you answer, then get the article by the slug you were given; never guess a slug. Cite articles as [collection/slug].`,
    tools: toolsOf(base),
    resources: resourcesOf(base),
    prompts: promptsOf(base),
    skills,
  })

/**
 * Adds name and version at the top of the `initialize` result. Some clients read them there, although MCP has them in
 * `serverInfo`.
 */
export const flatInfo =
  ({ name, version }: ServerDefinition): Layer =>
  (next) =>
    async function flatInfo(call) {
      const answer = await next(call)
      return call.method !== 'initialize' || answer instanceof Prepared ? answer : { name, version, ...answer }
    }
