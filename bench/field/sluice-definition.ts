/** The shop as a definition of Sluice, for Node and Bun. */
import { defineServer, type ServerDefinition, tool } from 'sluice'
import { createTools } from './tools.ts'

export async function define(): Promise<ServerDefinition> {
  const tools = await createTools()
  return defineServer({
    name: 'shop',
    version: '1.0.0',
    tools: tools.map(({ name, description, input, run }) =>
      tool({ name, description, input, run: (args) => run(args) }),
    ),
  })
}
