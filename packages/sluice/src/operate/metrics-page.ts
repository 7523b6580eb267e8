/** `/metrics`: what a scraper asks. HTTP mounts it beside the MCP endpoint, before the gate. */

import type { Contribution } from '../core/plugin.ts'
import { joinPrometheus } from '../observe/prometheus.ts'
import type { PageAccess } from './page-access.ts'
import { accessCheck } from './page-access.ts'

const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' }

/** To strangers it is not there. */
export function metricsPage(text: () => string, readers?: PageAccess): NonNullable<Contribution['routes']> {
  const may = accessCheck(readers)
  return async function metrics(path, peer) {
    return path === '/metrics' && may(peer) ? { status: 200, headers, body: text(), join: joinPrometheus } : undefined
  }
}
