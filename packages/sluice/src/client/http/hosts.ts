/**
 * Which addresses a client may reach. A server names further addresses (OAuth metadata, token endpoints, redirects), and
 * one that names a private address would use this machine to reach hosts it cannot reach itself.
 */

import { isLoopback } from '../../core/loopback.ts'
import { ClientError } from '../errors.ts'

export interface HostPolicy {
  /** Host names that may be reached besides the server's. By default any host with a public address. */
  readonly allowHosts?: readonly string[]
}

export interface HostGuard {
  /**
   * Throws a `ClientError` if the address must not be reached. Returns whether the operator named its host, which may
   * therefore have a private address.
   */
  check(url: string): boolean
}

/** Returns the guard of a client. The operator named the server's own host, so it may be private. */
export function createHostGuard(serverUrl: string, { allowHosts }: HostPolicy = {}): HostGuard {
  const named = new Set([new URL(serverUrl).hostname, ...(allowHosts ?? [])].map((host) => host.toLowerCase()))
  const isNamed = (hostname: string): boolean => named.has(hostname.toLowerCase())
  // On a machine where the server is local, `localhost` and `127.0.0.1` are one host.
  const isLocal = [...named].some(isLoopback)
  // Nearly all requests go to one address, and parsing it costs more than the rest of the check.
  let last: { readonly url: string; readonly isNamed: boolean } | undefined
  return {
    check(url) {
      if (last?.url !== url) last = { url, isNamed: checked(url) }
      return last.isNamed
    },
  }
  function checked(url: string): boolean {
    if (!URL.canParse(url)) throw refused(url, 'it is not a valid URL')
    const { protocol, hostname } = new URL(url)
    if (protocol !== 'https:' && protocol !== 'http:') throw refused(url, 'only http and https are allowed')
    if (isNamed(hostname) || (isLocal && isLoopback(hostname))) return true
    if (allowHosts) throw refused(url, 'its host is not in "allowHosts"')
    if (isPrivateHost(hostname)) throw refused(url, 'its address is private; name the host in "allowHosts"')
    return false
  }
}

const refused = (url: string, why: string): ClientError =>
  new ClientError('refusedAddress', `Not requested: ${url.slice(0, 200)} (${why})`, { mayHaveRun: false })

/** Whether a host name is a private address as it stands. What a name resolves to is checked where it is resolved. */
const isPrivateHost = (hostname: string): boolean =>
  isLoopback(hostname) ||
  /(^|\.)(localhost|local|internal)$/i.test(hostname) ||
  isPrivateAddress(hostname.replace(/^\[|\]$/g, ''))

/** Whether an IP address is private, local, shared or otherwise not on the public internet. */
export function isPrivateAddress(address: string): boolean {
  const plain = (address.split('%')[0] ?? '').toLowerCase()
  if (plain.includes(':')) return isPrivateV6(plain)
  const parts = plain.split('.').map(Number)
  return parts.length === 4 && parts.every((part) => part >= 0 && part <= 255) && isPrivateV4(parts)
}

function isPrivateV4([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  if (a === 0 || a === 10 || a === 127 || a >= 224) return true
  if (a === 100) return b >= 64 && b <= 127
  if (a === 169) return b === 254
  if (a === 172) return b >= 16 && b <= 31
  if (a === 192) return b === 168 || (b === 0 && (c === 0 || c === 2))
  if (a === 198) return b === 18 || b === 19 || (b === 51 && c === 100)
  return a === 203 && b === 0 && c === 113
}

function isPrivateV6(address: string): boolean {
  const groups = toGroups(address)
  if (!groups) return true
  const [first = 0, second = 0] = groups
  const isEmbedded = groups.slice(0, 5).every((group) => group === 0) && (groups[5] === 0xffff || groups[5] === 0)
  // IPv4 inside IPv6: mapped, compatible (`::` and `::1` included), NAT64 and 6to4.
  if (isEmbedded || (first === 0x64 && second === 0xff9b)) return isPrivateV4(toV4(groups[6] ?? 0, groups[7] ?? 0))
  if (first === 0x2002) return isPrivateV4(toV4(second, groups[2] ?? 0))
  // Only 2000::/3 is public; the documentation prefix within it is not.
  return (first & 0xe000) !== 0x2000 || (first === 0x2001 && second === 0xdb8)
}

const toV4 = (high: number, low: number): readonly number[] => [high >> 8, high & 255, low >> 8, low & 255]

function toGroups(address: string): readonly number[] | undefined {
  const url = `http://[${address}]`
  if (!URL.canParse(url)) return undefined
  // The form of a URL has no dots, and `::` once.
  const [head = '', tail] = new URL(url).hostname.slice(1, -1).split('::')
  const before = head === '' ? [] : head.split(':')
  const after = tail ? tail.split(':') : []
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
}
