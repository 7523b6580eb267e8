/** `sluice doctor`: looks at what usually goes wrong, and says how to mend each finding. */

import type { ReachOptions } from '../client/open.ts'
import { loadConfig } from '../config/load.ts'
import type { Finding } from '../doctor/finding.ts'
import { checkHere } from '../doctor/here.ts'
import { checkOauth } from '../doctor/oauth.ts'
import { checkServer } from '../doctor/server.ts'
import { checkStore } from '../doctor/store.ts'
import { exitCodes, type Style, shown, styled, toJson, wrapped } from '../output.ts'
import type { Around } from './command.ts'

export interface DoctorOptions extends ReachOptions {
  readonly config?: string
  readonly data?: string
  readonly json?: boolean
}

const marks: { readonly [state in Finding['state']]: readonly [string, Style] } = {
  good: ['✓', 'green'],
  note: ['•', 'yellow'],
  bad: ['✗', 'red'],
}

/** With an address only the server there is looked at; without one, this machine and its configuration. */
export async function doctor(around: Around, url: string | undefined, options: DoctorOptions): Promise<number> {
  const { terminal, env, cwd } = around
  const findings: Finding[] = []
  if (url === undefined) {
    const { config } = await loadConfig({ file: options.config, cwd, env, flags: { data: options.data } })
    findings.push(...(await checkHere(config, env)), ...(await checkStore(config, env)), ...(await checkOauth(config)))
  } else findings.push(...(await checkServer(url, options, env)))
  if (options.json) terminal.out(toJson(findings))
  else
    for (const { state, what, found, fix } of findings) {
      const [mark, style] = marks[state]
      terminal.out(`${styled(terminal, style, mark)} ${wrapped(terminal, `${what}: ${shown(found)}`, 2)}`)
      if (fix !== undefined) terminal.out(styled(terminal, 'dim', `    ${wrapped(terminal, fix, 4)}`))
    }
  return findings.some(({ state }) => state === 'bad') ? exitCodes.found : exitCodes.ok
}
