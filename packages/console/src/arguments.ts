/** Prepares canonical JSON for people: indents it, splits it into chunks, and compares two versions. */

/** Indents JSON. Returns other text unchanged, because it must not be hidden. */
export function indented(canonical: string): string {
  try {
    return JSON.stringify(JSON.parse(canonical), undefined, 2)
  } catch {
    return canonical
  }
}

const perChunk = 12_000

/** Splits at line breaks where possible. A line longer than a chunk is cut, but never inside a surrogate pair. */
export function chunksOf(text: string): readonly string[] {
  const chunks: string[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + perChunk)
    if (to < text.length) {
      const line = text.lastIndexOf('\n', to - 1)
      if (line > from) to = line + 1
      else if (isHighSurrogate(text.charCodeAt(to - 1))) to--
    }
    chunks.push(text.slice(from, to))
    from = to
  }
  return chunks.length === 0 ? [''] : chunks
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

export interface Change {
  readonly path: string
  /** Absent if the value was added. */
  readonly before?: string
  /** Absent if the value was removed. */
  readonly now?: string
}

/** Compares leaf by leaf. `undefined` if one text is not JSON or has too many leaves. */
export function changesOf(
  before: string,
  now: string,
): { readonly changes: readonly Change[]; readonly same: number } | undefined {
  const [old, current] = [leavesOf(before), leavesOf(now)]
  if (!old || !current) return undefined
  const changes: Change[] = []
  let same = 0
  for (const [path, value] of current) {
    const was = old.get(path)
    if (was === value) same++
    else changes.push({ path, ...(was !== undefined && { before: was }), now: value })
  }
  for (const [path, value] of old) if (!current.has(path)) changes.push({ path, before: value })
  return { changes, same }
}

const maxLeaves = 2_000

function leavesOf(text: string): ReadonlyMap<string, string> | undefined {
  const leaves = new Map<string, string>()
  const walk = (value: unknown, path: string): void => {
    if (leaves.size > maxLeaves) return
    const members = typeof value === 'object' && value !== null ? Object.entries(value) : []
    if (members.length === 0) leaves.set(path === '' ? '(all)' : path, JSON.stringify(value))
    for (const [name, member] of members) walk(member, Array.isArray(value) ? `${path}[${name}]` : joinPath(path, name))
  }
  try {
    walk(JSON.parse(text), '')
  } catch {
    return undefined
  }
  return leaves.size > maxLeaves ? undefined : leaves
}

const joinPath = (path: string, name: string): string => {
  const shown = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name)
  return path === '' ? shown : `${path}.${shown}`
}
