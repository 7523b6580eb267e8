/** Checks each upstream of the configuration: starts or reaches it as the gateway would, and lists its definitions. */

import { memoryStore } from 'sluice'
import type { UpstreamState } from 'sluice/gateway-node'
import type { Environment } from 'sluice/node'
import { createServer } from 'sluice/node'
import { log, park } from 'sluice/plugins'
import { isUpstream } from '../config/is-upstream.ts'
import { findLiteralSecrets } from '../config/literal-secrets.ts'
import type { Config, ServerSettings } from '../config/schema.ts'
import { silentLogger } from '../host/logger.ts'
import { openUpstreams, problemOf } from '../host/upstreams.ts'
import { plural } from '../output.ts'
import type { Finding } from './finding.ts'
import { bad, good, note } from './finding.ts'

const startMs = 30_000

export async function checkUpstreams(config: Config, env: Environment): Promise<readonly Finding[]> {
  const servers = Object.entries(config.servers ?? {}).filter(
    ([, settings]) => isUpstream(settings) && settings.enabled !== false,
  )
  const findings: Finding[] = []
  // The timers of the gateway do not keep a process alive, and a server that does not start leaves nothing else.
  const keepAlive = setInterval(() => {}, 1_000)
  try {
    // One after the other, because each may start a process that takes a second and 200 MB.
    for (const [name, settings] of servers) findings.push(...(await checkUpstream(name, settings, config, env)))
  } finally {
    clearInterval(keepAlive)
  }
  return findings
}

async function checkUpstream(
  name: string,
  settings: ServerSettings,
  config: Config,
  env: Environment,
): Promise<readonly Finding[]> {
  const what = `Upstream ${name}`
  const written = findLiteralSecrets(settings).map((path) =>
    note(
      what,
      `"servers.${name}.${path}" seems to contain a secret${path.startsWith('args') ? ', which is in the process list' : ''}`,
      `Write \${env:NAME}, \${file:path} or \${keychain:service/account} into ${path.startsWith('args') ? '"env"' : 'it'} instead, because configurations are shared`,
    ),
  )
  return [...written, ...(await startUpstream(what, name, settings, config, env))]
}

async function startUpstream(
  what: string,
  name: string,
  settings: ServerSettings,
  config: Config,
  env: Environment,
): Promise<readonly Finding[]> {
  try {
    // Everything is counted here, also what waits for a review in the running gateway.
    const opened = await openUpstreams({ [name]: { ...settings, trust: 'always' } }, config, { env, startMs })
    const [named] = opened?.named ?? []
    if (!opened || !named) return []
    const server = createServer(named.opened.definition, { store: memoryStore(), use: [log(silentLogger), park()] })
    try {
      await server.ready()
      const [state] = opened.gateway.states()
      return state ? findingsOf(what, name, settings, state) : []
    } finally {
      await server.close()
    }
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    return [bad(what, message, `Correct "servers.${name}" in the configuration`)]
  }
}

function findingsOf(what: string, name: string, settings: ServerSettings, state: UpstreamState): readonly Finding[] {
  const { definitions, tools, prompts, resources, leftOut, connections } = state
  if (settings.auth && settings.headers?.['authorization'] === undefined && definitions !== 'current')
    return [
      note(
        what,
        'its tools are listed with the first sign-in',
        'Sign in yourself first, in the console or with the tool "sign_in"',
      ),
    ]
  if (definitions !== 'current') {
    const stderr = connections.flatMap(({ stderr: lines = [] }) => lines).at(-1)
    const wrote = stderr === undefined ? '' : ` It wrote: ${stderr}`
    const fix = settings.url
      ? `Check that the URL is right (it usually ends with /mcp) and the credential in "servers.${name}.headers"`
      : `Run the command of "servers.${name}" yourself: it must start, and read requests from stdin`
    return [bad(what, `${problemOf(state) ?? `no answer within ${startMs / 1000} s`}.${wrote}`, fix)]
  }
  const revision = connections.find((each) => each.revision !== undefined)?.revision
  const counts = [plural(tools, 'tool'), plural(prompts, 'prompt'), plural(resources, 'resource')].join(', ')
  return [
    good(what, revision === undefined ? counts : `${revision}, ${counts}`),
    ...leftOut.map(({ kind, name: definition, reason }) =>
      note(what, `the ${kind} ${definition} is not served: ${reason}`, 'Clients would refuse it. Tell its authors'),
    ),
    ...(settings.command !== undefined && settings.user === undefined && process.getuid?.() === 0
      ? [
          note(
            what,
            'runs as root, like this process',
            `Set "servers.${name}.user" to an account that may reach only what the server needs`,
          ),
        ]
      : []),
  ]
}
