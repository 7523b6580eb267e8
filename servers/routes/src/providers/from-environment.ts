/** The provider that the environment names. */

import type { HostContext } from 'sluice'
import type { Atlas } from '../atlas/thread.ts'
import type { Provider } from '../route.ts'
import { createUpstream } from '../upstream.ts'
import { offline } from './offline.ts'
import { osrm } from './osrm.ts'
import { tomtom } from './tomtom.ts'

/** Chooses TomTom if there is a key, OSRM if there is an address, otherwise the offline provider. */
export function providerFrom({ env, clock }: Pick<HostContext, 'env' | 'clock'>, atlas: Atlas): Provider {
  const { TOMTOM_API_KEY: key, TOMTOM_BASE_URL: baseUrl, OSRM_URL: osrmUrl } = env
  if (key)
    return tomtom({ key, ...(baseUrl && { baseUrl: toAddress('TOMTOM_BASE_URL', baseUrl) }) }, createUpstream(clock))
  if (osrmUrl) return osrm(toAddress('OSRM_URL', osrmUrl), createUpstream(clock), offline(atlas))
  return offline(atlas)
}

/** Checks an address at the start, where the operator sees the error. */
function toAddress(variable: string, text: string): string {
  if (!/^https?:$/.test(URL.parse(text)?.protocol ?? ''))
    throw new Error(`${variable} must be an http or https address`)
  return text
}
