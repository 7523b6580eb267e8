/** The unit in which peers are counted. */

/**
 * Returns the network of an address. An IPv4 address is one peer. Of an IPv6 address the first 64 bits are one peer. A
 * client with one such address has all the others too, and could use a new one for every request.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  const [plain = ''] = address.split('%')
  const [head = '', tail] = plain.split('::')
  const groups = head === '' ? [] : head.split(':')
  // A `::` among the first four groups means zeros up to there, unless the groups after it reach back that far.
  const after = tail ? tail.split(':') : []
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0')
  const first = [...groups, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${first.join(':')}::/64`
}
