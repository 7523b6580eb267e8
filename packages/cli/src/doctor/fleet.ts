/** Checks what several processes on one store need: the same secret, and no server that keeps data in local files. */

import type { Environment } from 'sluice/node'
import { isUpstream } from '../config/is-upstream.ts'
import type { Config } from '../config/schema.ts'
import { errorMessage, isStoreRefusal } from '../error-message.ts'
import { silentLogger } from '../host/logger.ts'
import { clock } from '../host/run.ts'
import { builtInNames, openServer } from '../host/servers.ts'
import { dataFolder, secretOf, sharedPostgres } from '../host/store.ts'
import type { Finding } from './finding.ts'
import { bad, good } from './finding.ts'

export async function checkFleet(config: Config, env: Environment): Promise<readonly Finding[]> {
  if (typeof config.store !== 'object') return []
  return [checkSecret(config, env), ...(config.sharedData ? [] : await checkLocalData(config, env))]
}

function checkSecret(config: Config, env: Environment): Finding {
  const fix = 'Set the same SLUICE_SECRET, or the same "secretFile", for every process: openssl rand -hex 32'
  try {
    const [secret = ''] = secretOf(config, env)
    return secret.length < 16
      ? bad('Secret', 'shorter than 16 characters', fix)
      : good('Secret', 'set; it must be the same in every process')
  } catch (thrown) {
    return bad('Secret', errorMessage(thrown), fix)
  }
}

/** Opens each server as the start would, because only an open server says where its data is. */
async function checkLocalData(config: Config, env: Environment): Promise<readonly Finding[]> {
  const folder = dataFolder(config.data)
  const all: NonNullable<Config['servers']> = Object.fromEntries(builtInNames.map((name) => [name, {}]))
  const findings: Finding[] = []
  for (const [name, settings] of Object.entries(config.servers ?? all)) {
    if (settings.enabled === false || isUpstream(settings)) continue
    const { module, folder: argument, env: extra = {} } = settings
    const what = `Server ${name}`
    try {
      const opened = await openServer({
        name,
        module,
        folder,
        argument,
        env: { ...env, ...extra },
        postgres: sharedPostgres(config, env),
        logger: silentLogger,
        clock,
      })
      await opened.close()
      findings.push(
        opened.sharedStoreAdvice === undefined
          ? good(what, 'keeps no data in local files')
          : bad(
              what,
              'keeps data in local files, which the other processes do not see',
              `For ${name}: ${opened.sharedStoreAdvice}. If every process uses this data folder, set "sharedData" to true`,
            ),
      )
    } catch (thrown) {
      const fix = isStoreRefusal(thrown)
        ? 'It keeps its data in the store, which must work first'
        : `Correct "servers.${name}" in the configuration`
      findings.push(bad(what, errorMessage(thrown), fix))
    }
  }
  return findings
}
