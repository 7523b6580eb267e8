/** Checks tracing: without a registered SDK every span is discarded, and no message says so. */

import type { Config } from '../config/schema.ts'
import type { Finding } from './finding.ts'
import { bad, good } from './finding.ts'

/** The place where OpenTelemetry’s API keeps what an SDK registers. */
const registry = Symbol.for('opentelemetry.js.api.1')

export async function checkTracing({ tracing }: Config): Promise<readonly Finding[]> {
  if (!tracing) return []
  try {
    await import('sluice/tracing')
  } catch {
    return [bad('Tracing', 'the package @opentelemetry/api is not installed', 'npm install @opentelemetry/api')]
  }
  const registered = (globalThis as { readonly [registry]?: { readonly trace?: unknown } })[registry]
  return registered?.trace === undefined
    ? [
        bad(
          'Tracing',
          'on, but no OpenTelemetry SDK is loaded, so every span is discarded',
          'Set NODE_OPTIONS="--import @opentelemetry/auto-instrumentations-node/register" for the server and for this command',
        ),
      ]
    : [good('Tracing', 'an OpenTelemetry SDK is loaded')]
}
