/** `/metrics`, the page for scrapers. HTTP mounts it beside the MCP endpoint, before admission. */

import type { Contribution } from '../core/plugin.ts'
import { joinPrometheus } from '../observe/prometheus.ts'
import type { PageAccess } from './page-access.ts'
import { accessCheck } from './page-access.ts'

const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8', 'cache-control': 'no-store' }

/** Creates the page. For peers without access it does not exist. */
export function metricsPage(text: () => string, readers?: PageAccess): NonNullable<Contribution['routes']> {
  const mayRead = accessCheck(readers)
  return async function metrics(path, peer) {
    return path === '/metrics' && mayRead(peer)
      ? { status: 200, headers, body: text(), join: joinPrometheus }
      : undefined
  }
}
