/**
 * The tools that every contender defines: `echo`, and as many other tools as a case needs.
 *
 * Schemas are created anew for each tool, as in a real server, so that no library gains from caching one shared schema
 * object.
 */
import * as z from 'zod'

export const echoSchema = () => z.object({ text: z.string() })

export interface ToolShape {
  readonly name: string
  readonly description: string
  readonly schema: ReturnType<typeof echoSchema>
}

/** Returns `count` tools: `echo` first, then `neighbour_1` and so on. */
export const toolShapes = (count: number): readonly ToolShape[] =>
  Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? 'echo' : `neighbour_${index}`,
    description: 'Gives back the text it was given, unchanged, as one block of text.',
    schema: echoSchema(),
  }))
