/**
 * The fitness server: the tokens of a year, whether one tenant's list depends on the number of tenants, and whether
 * importing many files takes more memory than importing a few.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { toTransportServer } from 'sluice/extend'
import { createServer, nodeClock } from 'sluice/node'
import { elicitation } from 'sluice/plugins'
import { createArchive } from '../../../servers/fitness/src/archive.ts'
import { defineFitness } from '../../../servers/fitness/src/definition.ts'
import { importInto } from '../../../servers/fitness/src/files/import.ts'
import { createFileReader } from '../../../servers/fitness/src/files/reader.ts'
import { sqliteFile } from '../../../servers/fitness/src/sqlite.ts'
import { activitiesPerYear, syntheticYear } from '../../../servers/fitness/src/synthetic.ts'
import { fitFile } from '../../../servers/fitness/test/activity-files.fixture.ts'
import { formatNumber, median, progress, ratio, type Section } from '../../lib/figures.ts'
import { silentLog, silentLogger } from '../../lib/silent-log.ts'

const tenants = 1_000
const files = 1_000
const rounds = 15
const perRound = 20

interface Result {
  readonly content: readonly { readonly text: string }[]
}

export async function fitness(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-fitness-'))
  const archive = createArchive(sqliteFile(join(folder, 'fitness.db')))
  const reader = createFileReader(nodeClock)
  const definition = defineFitness({
    ...{ archive, files: reader, strava: undefined, clock: nodeClock, logger: silentLogger },
  })
  const server = createServer(definition, { clock: nodeClock, use: [elicitation(), silentLog] })
  const call = async (name: string, args: object): Promise<Result> => {
    const text = await toTransportServer(server).handleText({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    })
    return (JSON.parse(text ?? '') as { result: Result }).result
  }
  try {
    await call('connect_provider', { provider: 'synthetic' })
    const list = (format: string): Promise<Result> => call('get_activities', { limit: activitiesPerYear, format })
    const [json, toon] = [await list('json'), await list('toon')]
    const textTokens = [json, toon].map(({ content }) => countTokens(content[0]?.text ?? ''))
    const wholeTokens = [json, toon].map((result) => countTokens(JSON.stringify(result)))
    const saved = ([before = 1, after = 1]: readonly number[]): number => (1 - after / before) * 100

    const perCall = async (): Promise<number> => {
      const times: number[] = []
      for (let round = 0; round < rounds; round++) {
        const begun = process.cpuUsage()
        for (let n = 0; n < perRound; n++) await call('get_activities', { limit: 50 })
        const { user, system } = process.cpuUsage(begun)
        times.push((user + system) / perRound)
      }
      return median(times)
    }
    const alone = await perCall()
    for (let at = 0; at < tenants; at++) {
      if (at % 100 === 0) progress(`fitness: tenant ${at} of ${tenants}`)
      await archive.forTenant(`tenant-${at}`).add(syntheticYear(`tenant-${at}`, nodeClock.now()))
    }
    const among = await perCall()

    progress(`fitness: importing ${files} FIT files`)
    const day = 86_400_000
    const sources = Array.from({ length: files }, (_, at) => ({
      name: `${at}.fit`,
      read: async () => fitFile({ start: new Date(Date.UTC(2020, 0, 1) + at * day).toISOString() }),
    }))
    const memory: number[] = []
    const { added } = await importInto(archive.forTenant('importer'), reader, sources, (done) => {
      if (done % 50 === 0) memory.push(process.memoryUsage().rss)
    })
    const quarter = Math.floor(memory.length / 4)
    const growth = ratio(median(memory.slice(-quarter)), median(memory.slice(quarter, 2 * quarter)))
    return {
      figures: {
        tokens: { text: textTokens, whole: wholeTokens },
        'get_activities, µs CPU': { alone: Math.round(alone), among: Math.round(among) },
        import: { files, added, rssMb: memory.map((bytes) => Math.round(bytes / 1e6)) },
      },
      tables: [
        {
          title: `fitness: a year of ${activitiesPerYear} activities, summary mode, in tokens (o200k_base)`,
          columns: ['', 'compact JSON', 'TOON', 'saved'],
          rows: [
            ['text block', ...textTokens.map(formatNumber), `${formatNumber(saved(textTokens))} %`],
            ['whole result', ...wholeTokens.map(formatNumber), `${formatNumber(saved(wholeTokens))} %`],
          ],
        },
        {
          title: `fitness: get_activities, µs CPU a call; import of ${files} FIT files`,
          columns: ['', 'before', 'after', 'ratio'],
          rows: [
            [
              `one tenant, then ${tenants} more with ${activitiesPerYear} activities each`,
              formatNumber(alone),
              formatNumber(among),
              formatNumber(ratio(among, alone)),
            ],
            [
              'memory, second quarter and last quarter of the import, MB',
              ...[memory.slice(quarter, 2 * quarter), memory.slice(-quarter)].map((part) =>
                formatNumber(median(part) / 1e6),
              ),
              formatNumber(growth),
            ],
          ],
        },
      ],
      goals: [
        {
          figure: 'fitness: tokens saved by TOON in the text block',
          atLeast: 35,
          unit: '%',
          measured: saved(textTokens),
        },
        {
          figure: `fitness: get_activities among ${tenants} tenants, of alone`,
          atMost: 1.5,
          unit: '×',
          measured: ratio(among, alone),
        },
        {
          figure: 'fitness: memory at the end of an import, of its second quarter',
          atMost: 1.25,
          unit: '×',
          measured: growth,
        },
      ],
    }
  } finally {
    await server.close()
    await reader.close()
    await archive.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
