/**
 * The cost of a year of activities in tokens: TOON against compact and pretty JSON, as flat rows, as uniform nested
 * objects and as irregular ones. Counted in the text block alone, which most clients pass to the model, and in the
 * whole result. There `structuredContent` stays JSON if the tool has an output schema; otherwise TOON leaves it out.
 */

import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { defineServer, tool } from 'sluice'
import { toTransportServer } from 'sluice/extend'
import { createServer } from 'sluice/node'
import { toon } from 'sluice/toon'
import * as z from 'zod'
import { dotted, flat, nested, ragged } from '../lib/activities.ts'
import { formatNumber, progress, type Section } from '../lib/figures.ts'
import { silentLog } from '../lib/silent-log.ts'

const count = 400
const shapes = {
  'flat rows': flat(count),
  'nested, uniform': nested(count),
  'nested, as dotted columns': dotted(count),
  'nested, irregular, with lists': ragged(count),
}

interface Result {
  readonly content: readonly { readonly text: string }[]
}
interface Cost {
  readonly text: number
  readonly whole: number
}

/** Runs a real server, so that the whole result is the one on the wire. */
async function resultOf(activities: readonly object[], format: 'json' | 'toon', hasSchema = false): Promise<Result> {
  const year = tool({
    ...{ name: 'year', description: 'A year of activities', format: toon },
    ...(hasSchema && { output: z.object({ activities: z.array(z.looseObject({})) }) }),
    run: () => ({ activities: activities.map((each) => ({ ...each })) }),
  })
  const server = createServer(defineServer({ name: 'fitness', version: '1', tools: [year] }), { use: [silentLog] })
  const text = await toTransportServer(server).handleText({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: { name: 'year', arguments: { format } },
  })
  await server.close()
  const { result }: { result: Result } = JSON.parse(text ?? '')
  return result
}

const costOf = (result: Result): Cost => ({
  text: countTokens(result.content[0]?.text ?? ''),
  whole: countTokens(JSON.stringify(result)),
})

/** As many servers write it. */
const pretty = (result: Result): Result => ({
  ...result,
  content: result.content.map((block) => ({ ...block, text: JSON.stringify(JSON.parse(block.text), null, 2) })),
})

const share = (cost: number, of: number): string => `${formatNumber((cost / of) * 100)} %`

export async function tokens(): Promise<Section> {
  progress(`tokens: ${count} activities, counted with o200k_base`)
  const figures: Record<string, Record<string, Cost>> = {}
  const rows: string[][] = []
  for (const [shape, activities] of Object.entries(shapes)) {
    const compact = await resultOf(activities, 'json')
    const costs = {
      'compact JSON': costOf(compact),
      'pretty JSON': costOf(pretty(compact)),
      TOON: costOf(await resultOf(activities, 'toon')),
      'TOON, output schema': costOf(await resultOf(activities, 'toon', true)),
    }
    figures[shape] = costs
    const base = costs['compact JSON']
    for (const [format, { text, whole }] of Object.entries(costs))
      rows.push([
        shape,
        format,
        formatNumber(text),
        share(text, base.text),
        formatNumber(whole),
        share(whole, base.whole),
      ])
  }
  return {
    figures,
    tables: [
      {
        title: `tokens: ${count} activities of a year, o200k_base, against compact JSON of the same shape`,
        notes: [
          'the encoder itself folds groups that every row has into the header, so dotted columns are not needed',
          'rows that differ in their fields or contain lists fall back to an indented list: do not use TOON for those',
          'with an output schema the whole result has structuredContent as well: TOON pays off only where a client passes on the text',
        ],
        columns: ['shape', 'format', 'text block', '', 'whole result', ''],
        rows,
      },
    ],
    goals: [],
  }
}
