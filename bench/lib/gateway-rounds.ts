/** Drives gateways in turns: each is started and warmed up, then all are measured in the same rounds. */
import { interleave, median, progress } from './figures.ts'

const warmUpMs = 2_000
const roundMs = 500
const rounds = 9

export const describeRounds = `median of ${rounds} rounds of ${roundMs / 1_000} s`

interface Driver<Load> {
  drive(durationMs: number): Promise<Load>
}

/** Returns the medians by gateway; `undefined` for one that failed. The caller closes what `start` opened. */
export async function driveInRounds<Name extends string, Load>(
  title: string,
  names: readonly Name[],
  start: (name: Name) => Promise<Driver<Load>>,
): Promise<(name: Name, pick: (load: Load) => number) => number | undefined> {
  const drivers = new Map<Name, Driver<Load>>()
  const drive = (name: Name, durationMs: number): Promise<Load> =>
    drivers.get(name)?.drive(durationMs) ?? Promise.reject(new Error('never started'))
  progress(`${title}: warming up ${names.join(', ')}`)
  const warm = await interleave(names, 1, async (name) => {
    drivers.set(name, await start(name))
    return drive(name, warmUpMs)
  })
  const samples = await interleave([...warm.keys()], rounds, (name, round) => {
    if (name === names[0]) progress(`${title}: round ${round + 1} of ${rounds}`)
    return drive(name, roundMs)
  })
  return (name, pick) => {
    const taken = samples.get(name)
    return taken && median(taken.map(pick))
  }
}
