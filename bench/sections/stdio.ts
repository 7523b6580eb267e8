/** `tools/call` over stdio: pipelined messages per second, with the load in this process and each server in its own. */
import { type Contender, revisions, scriptOf } from '../lib/contenders.ts'
import {
  formatFactor,
  formatInteger,
  formatNumber,
  interleave,
  median,
  progress,
  ratio,
  type Section,
} from '../lib/figures.ts'
import { openPipe, type Pipe, type Round } from '../lib/pipe.ts'

const names: readonly Contender[] = ['floor', 'sluice', 'sdk-v2', 'sdk-v1']
const window = 64
const warmUpMs = 2_000
const roundMs = 500
const rounds = 11

export async function stdio(): Promise<Section> {
  const pipes = new Map<Contender, Pipe>()
  const drive = (name: Contender, durationMs: number) =>
    pipes.get(name)?.drive(durationMs) ?? Promise.reject(new Error('never started'))
  try {
    progress(`stdio: warming up ${names.join(', ')}`)
    const warm = await interleave(names, 1, async (name) => {
      pipes.set(name, await openPipe(scriptOf(name, 'stdio'), revisions[name], window))
      return drive(name, warmUpMs)
    })
    const samples = await interleave([...warm.keys()], rounds, (name, round) => {
      if (name === names[0]) progress(`stdio: round ${round + 1} of ${rounds}`)
      return drive(name, roundMs)
    })
    const of = (name: Contender, pick: (round: Round) => number) => {
      const taken = samples.get(name)
      return taken && median(taken.map(pick))
    }
    const rate = (name: Contender) => of(name, (round) => round.perSecond)
    return {
      figures: Object.fromEntries(names.map((name) => [name, formatInteger(rate(name))])),
      tables: [
        {
          title: 'stdio: tools/call, one Zod tool, messages per second',
          notes: [`${window} in flight, median of ${rounds} rounds of ${roundMs / 1_000} s`],
          columns: ['', 'revision', 'msg/s', 'of floor', 'vs sdk-v2', 'CPU µs', 'load busy'],
          rows: names.map((name) => [
            name,
            revisions[name],
            formatNumber(rate(name)),
            formatNumber(ratio(rate(name), rate('floor'))),
            formatFactor(ratio(rate(name), rate('sdk-v2'))),
            formatNumber(of(name, (round) => round.cpuUs ?? Number.NaN)),
            formatNumber(of(name, (round) => round.busy)),
          ]),
        },
      ],
      goals: [
        { figure: 'stdio, of the floor', atLeast: 0.7, unit: '', measured: ratio(rate('sluice'), rate('floor')) },
        { figure: 'stdio, times SDK v2', atLeast: 6, unit: '×', measured: ratio(rate('sluice'), rate('sdk-v2')) },
      ],
    }
  } finally {
    for (const pipe of pipes.values()) pipe.close()
  }
}
