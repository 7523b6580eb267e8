/** Names in rules of an operator: whole names, in which `*` stands for any characters. */

/** Returns a function that matches a name against the patterns. Without patterns it matches every name. */
export function nameMatcher(patterns: string | readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined) return () => true
  const all = (typeof patterns === 'string' ? [patterns] : patterns).map((pattern) => pattern.split('*'))
  return (name) => all.some((pieces) => matches(name, pieces))
}

/** Matches piece by piece from the left, in linear time, because a regular expression could backtrack. */
function matches(name: string, pieces: readonly string[]): boolean {
  const [first = '', ...rest] = pieces
  if (rest.length === 0) return name === first
  const last = rest.pop() ?? ''
  if (!name.startsWith(first)) return false
  let from = first.length
  for (const piece of rest) {
    const found = name.indexOf(piece, from)
    if (found === -1) return false
    from = found + piece.length
  }
  return name.length - last.length >= from && name.endsWith(last)
}
