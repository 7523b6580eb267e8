/** Checks "hosts" against the addresses that clients are given: a request with another name in its Host header is refused. */

import { isLoopback } from 'sluice/node'
import type { Config } from '../config/schema.ts'
import type { Finding } from './finding.ts'
import { bad, good } from './finding.ts'

export function checkAddresses(config: Config): readonly Finding[] {
  const { hosts = [], authenticate } = config
  const malformed = hosts.filter((each) => /[/\s]/.test(each))
  if (malformed.length > 0)
    return [
      bad(
        'Hosts',
        `"hosts" has ${malformed.join(', ')}, which no request can have in its Host header`,
        'Write host names alone, without scheme and path, as in mcp.example.com',
      ),
    ]
  const addresses = [
    { what: 'the printed address', url: `http://${printedHost(config)}:${config.port}` },
    ...(authenticate?.resource ? [{ what: '"authenticate.resource"', url: authenticate.resource.resource }] : []),
  ]
  const refused = addresses.filter(({ url }) => !isAccepted(new URL(url), config))
  return refused.length === 0
    ? [good('Hosts', addresses.map(({ url }) => url).join(', '))]
    : refused.map(({ what, url }) =>
        bad(
          'Hosts',
          `requests to ${what} ${url} are refused: "hosts" lacks its name`,
          `Add ${new URL(url).host} to "hosts"`,
        ),
      )
}

/** Returns the name in the addresses that the command prints. */
function printedHost({ host, hosts = [] }: Config): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  const named = hosts.find((name) => !/:\d+$/.test(name))
  const printed = isLoopback(host) || named === undefined || hosts.includes(host) ? host : named
  return printed.includes(':') && !printed.startsWith('[') ? `[${printed}]` : printed
}

/** Whether the server accepts the Host header of a request to this URL. */
function isAccepted({ host, hostname, port }: URL, config: Config): boolean {
  const hosts = (config.hosts ?? []).map((each) => each.toLowerCase())
  if (hosts.includes(host)) return true
  // Port 0 takes a free one, which the printed address has.
  const isOwnPort = config.port === 0 || Number(port || 80) === config.port
  return isOwnPort && (isLoopback(hostname) || hosts.includes(hostname))
}
