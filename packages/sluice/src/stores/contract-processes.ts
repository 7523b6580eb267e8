/** Races between operating-system processes, which a lock inside one process would hide. */

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/**
 * How another process opens the same data: a module that exports `open(argument)`, as a URL or path that Node can
 * import.
 */
export interface OtherProcess {
  readonly module: string
  readonly argument: string
}

/** The program of the child processes, as source or as built. */
const child = fileURLToPath(
  new URL(`./contract-child.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url),
)

/** Runs a job in several processes that start together. Returns each result by name; one failure fails the race. */
export async function runInProcesses(
  names: readonly string[],
  job: 'swap' | 'take' | 'append',
  { module, argument }: OtherProcess,
): Promise<ReadonlyMap<string, unknown>> {
  const runs = names.map((name) => {
    const started = spawn(process.execPath, [child, module, argument, job, name], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
    const line = async (): Promise<string> => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`Process ${name} ended without output`)
      return value
    }
    return { name, started, line }
  })
  try {
    await Promise.all(runs.map(({ line }) => line()))
    for (const { started } of runs) started.stdin.end('go\n')
    return new Map(
      await Promise.all(
        runs.map(async ({ name, line }): Promise<[string, unknown]> => [name, JSON.parse(await line())]),
      ),
    )
  } finally {
    for (const { started } of runs) started.kill('SIGKILL')
  }
}
