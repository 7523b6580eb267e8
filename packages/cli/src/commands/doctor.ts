/** `sluice doctor`: checks for common problems and says how to fix each finding. */

import type { ConnectOptions } from '../client/open.ts'
import { loadConfig } from '../config/load.ts'
import { checkAddresses } from '../doctor/addresses.ts'
import type { Finding } from '../doctor/finding.ts'
import { checkFleet } from '../doctor/fleet.ts'
import { checkMachine } from '../doctor/machine.ts'
import { checkOauth } from '../doctor/oauth.ts'
import { checkServer } from '../doctor/server.ts'
import { checkStore } from '../doctor/store.ts'
import { checkTracing } from '../doctor/tracing.ts'
import { checkUpstreams } from '../doctor/upstreams.ts'
import { escapeControls, exitCodes, type Style, styled, toJson, wrapText } from '../output.ts'
import type { CommandContext } from './context.ts'

export interface DoctorOptions extends ConnectOptions {
  readonly config?: string
  readonly data?: string
  readonly json?: boolean
}

const marks: { readonly [state in Finding['state']]: readonly [string, Style] } = {
  good: ['✓', 'green'],
  note: ['•', 'yellow'],
  bad: ['✗', 'red'],
}

/** Checks the server at the URL, or this machine and its configuration without one. */
export async function doctor(
  context: CommandContext,
  url: string | undefined,
  options: DoctorOptions,
): Promise<number> {
  const { terminal, env, cwd } = context
  const findings: Finding[] = []
  if (url === undefined) {
    const { config } = await loadConfig({
      file: options.config,
      cwd,
      env,
      flags: { data: options.data },
      fallBackToHome: true,
    })
    findings.push(
      ...(await checkMachine(config, env)),
      ...checkAddresses(config),
      ...(await checkStore(config, env)),
      ...(await checkFleet(config, env)),
      ...(await checkOauth(config)),
      ...(await checkTracing(config)),
      ...(await checkUpstreams(config, env)),
    )
  } else findings.push(...(await checkServer(url, options, env)))
  if (options.json) terminal.out(toJson(findings))
  else
    for (const { state, what, found, fix } of findings) {
      const [mark, style] = marks[state]
      terminal.out(`${styled(terminal, style, mark)} ${wrapText(terminal, `${what}: ${escapeControls(found)}`, 2)}`)
      if (fix !== undefined) terminal.out(styled(terminal, 'dim', `    ${wrapText(terminal, fix, 4)}`))
    }
  return findings.some(({ state }) => state === 'bad') ? exitCodes.found : exitCodes.ok
}
