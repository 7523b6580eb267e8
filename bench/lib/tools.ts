/**
 * The tools every contender defines: `echo`, and as many neighbours as a case asks for.
 *
 * Schemas are made anew for each tool, as they are in a real server, so that no library gains by
 * caching on one shared schema object.
 */
import * as z from 'zod'

export const echoSchema = () => z.object({ text: z.string() })

export interface ToolShape {
  readonly name: string
  readonly description: string
  readonly schema: ReturnType<typeof echoSchema>
}

/** `echo` first, then `neighbour_1` and on, `count` in all. */
export const toolShapes = (count: number): readonly ToolShape[] =>
  Array.from({ length: count }, (_, index) => ({
    name: index === 0 ? 'echo' : `neighbour_${index}`,
    description: 'Gives back the text it was given, unchanged, as one block of text.',
    schema: echoSchema(),
  }))
