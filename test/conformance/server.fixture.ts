/**
 * The server under test: what the official suite expects, written as a user of Sluice would write it. The skills
 * extension is left out.
 */

import type { Server, ServerDefinition, Tool } from 'sluice'
import { createServer, defineServer, memoryStore, prompt, tool } from 'sluice'
import type { TasksOptions } from 'sluice/plugins'
import { elicitation, log, tasks } from 'sluice/plugins'
import { askingTools } from './asking-tools.ts'
import { prompts } from './prompts.ts'
import { resources } from './resources.ts'
import { taskTools } from './task-tools.ts'
import { tools } from './tools.ts'

export const definition: ServerDefinition = defineServer({
  name: 'sluice-conformance',
  version: '0.1.0',
  tools: [...tools, ...askingTools, ...taskTools],
  prompts,
  resources,
})

/** These come and go, so that subscribers are notified. */
const passing = {
  tools: tool({ name: 'test_passing_tool', description: 'Sometimes there', run: () => 'Still there' }),
  prompts: prompt({ name: 'test_passing_prompt', description: 'Sometimes there', run: () => 'Still there' }),
}

/** Includes the two tools that change the lists: each call adds what is missing or removes what exists. */
export function createFixture(options: TasksOptions = {}): Server {
  const shown = { tools: false, prompts: false }
  const trigger = (name: string, list: 'tools' | 'prompts'): Tool =>
    tool({
      name,
      description: `Changes the list of ${list}`,
      run() {
        shown[list] = !shown[list]
        server.update(current())
        return `Changed the list of ${list}`
      },
    })
  const triggers = [trigger('test_trigger_tool_change', 'tools'), trigger('test_trigger_prompt_change', 'prompts')]
  const current = (): ServerDefinition => ({
    ...definition,
    tools: [...tools, ...askingTools, ...taskTools, ...triggers, ...(shown.tools ? [passing.tools] : [])],
    prompts: [...prompts, ...(shown.prompts ? [passing.prompts] : [])],
  })
  // The suite provokes many refusals, so only bugs are logged.
  const server = createServer(current(), {
    store: memoryStore(),
    // On the edge one must be set: the next request may meet another isolate.
    secret: 'only for the conformance fixture',
    use: [log({ info() {}, warn() {}, error: console.error }), elicitation(), tasks(options)],
  })
  return server
}
