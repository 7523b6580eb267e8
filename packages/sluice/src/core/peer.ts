/** Who an address stands for when peers are counted. */

/**
 * An IPv4 address is one peer; of IPv6 the first 64 bits are, since whoever has one address there has all the rest, and
 * would be somebody new with every request.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)
  if (mapped?.[1]) return mapped[1]
  const [plain = ''] = address.split('%')
  const [head = '', tail] = plain.split('::')
  const groups = head === '' ? [] : head.split(':')
  // A `::` that begins among the first four stands for zeros up to there, unless what follows reaches back that far.
  const after = tail ? tail.split(':') : []
  while (tail !== undefined && groups.length + after.length < 8) groups.push('0')
  const first = [...groups, ...after].slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${first.join(':')}::/64`
}
