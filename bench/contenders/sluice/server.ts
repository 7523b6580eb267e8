/** The Sluice server of this benchmark: `echo` and its neighbours. */
import { defineServer, tool } from 'sluice'
import { toolShapes } from '../../lib/tools.ts'

export const define = (count: number, scopes: readonly string[] = []) =>
  defineServer({
    name: 'bench',
    version: '1.0.0',
    tools: toolShapes(count).map(({ name, description, schema }) =>
      tool({ name, description, input: schema, scopes, run: ({ text }) => text }),
    ),
  })
