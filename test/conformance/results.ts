/** Reads and counts the results that a run of the suite left on disk. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Check {
  readonly id: string
  readonly description: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}
export interface Scenario {
  readonly name: string
  readonly checks: readonly Check[]
}

/** Which side the suite tests. */
export type Leg = 'server' | 'client'

/** `server-<scenario>-<time>` or, for clients, `<scenario>-<time>`: one directory each. Scenarios may hold a slash. */
const directories: { readonly [leg in Leg]: RegExp } = {
  server: /^server-(.+)-\d{4}-\d\d-\d\dT[\dZ-]+$/,
  client: /^(.+)-\d{4}-\d\d-\d\dT[\dZ-]+$/,
}

/** A scenario that threw, or did not apply, leaves its directory empty; `whenEmpty` says which it was. */
export async function readScenarios(
  output: string,
  whenEmpty: readonly Check[],
  leg: Leg = 'server',
): Promise<readonly Scenario[]> {
  const entries = await readdir(output, { recursive: true }).catch(() => [])
  const read = entries.toSorted().map(async (entry): Promise<readonly Scenario[]> => {
    const name = directories[leg].exec(entry)?.[1]
    if (name === undefined) return []
    const text = await readFile(join(output, entry, 'checks.json'), 'utf8').catch(() => undefined)
    const checks = text === undefined ? whenEmpty : (JSON.parse(text) as Check[])
    return checks.length === 0 ? [] : [{ name, checks }]
  })
  return (await Promise.all(read)).flat()
}

export const failed = (name: string, description: string): Check => ({ id: name, description, status: 'FAILURE' })

/** A warning is about a SHOULD and fails nothing; a scenario that only skipped has proven nothing either. */
export function outcomeOf({ checks }: Scenario): 'pass' | 'fail' | 'skipped' {
  if (checks.some(({ status }) => status === 'FAILURE')) return 'fail'
  return checks.some(({ status }) => status === 'SUCCESS' || status === 'WARNING') ? 'pass' : 'skipped'
}

export const countOf = (scenarios: readonly Scenario[], status: Check['status']): number =>
  scenarios.flatMap(({ checks }) => checks).filter((check) => check.status === status).length

/** The required scenarios of a revision. The file is the suite's own; its list is simple enough to read by line. */
export async function readRequired(suite: string, revision: string, leg: Leg = 'server'): Promise<readonly string[]> {
  const yaml = await readFile(join(suite, 'requirements', `${revision}.yaml`), 'utf8')
  const list = new RegExp(`^${leg}:\\n((?: {2}- \\S+\\n)+)`, 'm').exec(yaml)?.[1]
  if (list === undefined) throw new Error(`requirements/${revision}.yaml has no list of ${leg} scenarios`)
  return list
    .trimEnd()
    .split('\n')
    .map((line) => line.replace('  - ', ''))
}
