/** Prepares canonical JSON for people: indents it, splits it into chunks, and compares two versions. */

/** Indents JSON. Returns other text unchanged, because it must not be hidden. */
export function indented(canonical: string): string {
  try {
    return JSON.stringify(JSON.parse(canonical), undefined, 2)
  } catch {
    return canonical
  }
}

/** One line of a listing. `block` names a string that is shown in a block below instead of here. */
export interface ListedLine {
  readonly text: string
  readonly block?: string
  /** The rest of the line after the reference to a block. */
  readonly after?: string
  /** Continues the line before, which was too long to be rendered at once. */
  readonly isContinued?: boolean
}

/** A listing: the JSON itself, or one long string of it, with its line breaks as lines. */
export interface Section {
  /** The path of the string. Empty for the JSON itself. */
  readonly name: string
  readonly lines: readonly ListedLine[]
  readonly characters: number
}

const maxInline = 200

/** A string that is hard to read inside JSON, where a line break is written as `\\n`. */
const needsBlock = (text: string): boolean => text.length > maxInline || /[\n\r]/.test(text)

/** Returns the JSON as one section, with every string in its place. */
export const exactSection = (canonical: string): readonly Section[] => [
  { name: '', lines: indented(canonical).split('\n').map(toLine), characters: canonical.length },
]

/** Returns the JSON with references to its long strings, followed by a section for each of them. */
export function sectionsOf(canonical: string): readonly Section[] {
  let value: unknown
  try {
    value = JSON.parse(canonical)
  } catch {
    return exactSection(canonical)
  }
  const lines: ListedLine[] = []
  const blocks: Section[] = []
  print(value, '', { indent: '', before: '', after: '' })
  return [{ name: '', lines, characters: canonical.length }, ...blocks]

  function print(each: unknown, path: string, { indent, before, after }: Placement): void {
    const text = `${indent}${before}`
    if (typeof each === 'string' && needsBlock(each)) {
      const name = path === '' ? '(all)' : path
      blocks.push({ name, lines: each.split('\n').map(toLine), characters: each.length })
      lines.push({ text, block: name, after })
      return
    }
    const isList = Array.isArray(each)
    const members = typeof each === 'object' && each !== null ? Object.entries(each) : []
    if (members.length === 0) {
      lines.push({ text: `${text}${JSON.stringify(each)}${after}` })
      return
    }
    lines.push({ text: `${text}${isList ? '[' : '{'}` })
    for (const [at, [name, member]] of members.entries())
      print(member, isList ? `${path}[${name}]` : joinPath(path, name), {
        indent: `${indent}  `,
        before: isList ? '' : `${JSON.stringify(name)}: `,
        after: at < members.length - 1 ? ',' : '',
      })
    lines.push({ text: `${indent}${isList ? ']' : '}'}${after}` })
  }
}

interface Placement {
  readonly indent: string
  readonly before: string
  readonly after: string
}

const toLine = (text: string): ListedLine => ({ text })

const maxChunkChars = 12_000
const maxChunkLines = 400

/** A part of a section, small enough to be rendered at once. */
export interface Chunk {
  readonly section: number
  readonly lines: readonly ListedLine[]
  /** Whether it ends its section. */
  readonly isLast: boolean
}

export function chunksOf(sections: readonly Section[]): readonly Chunk[] {
  return sections.flatMap(({ lines }, section) => {
    const chunks: ListedLine[][] = [[]]
    let size = 0
    for (const line of lines.flatMap(cutLine)) {
      const last = chunks.at(-1) ?? []
      if (last.length > 0 && (last.length >= maxChunkLines || size + line.text.length > maxChunkChars)) {
        chunks.push([line])
        size = 0
      } else last.push(line)
      size += line.text.length
    }
    return chunks.map((each, at) => ({ section, lines: each, isLast: at === chunks.length - 1 }))
  })
}

/** Cuts a line that is longer than a chunk, but never inside a surrogate pair. */
function cutLine(line: ListedLine): readonly ListedLine[] {
  const { text } = line
  if (text.length <= maxChunkChars) return [line]
  const pieces: ListedLine[] = []
  for (let from = 0; from < text.length; ) {
    let to = Math.min(text.length, from + maxChunkChars)
    if (to < text.length && isHighSurrogate(text.charCodeAt(to - 1))) to--
    pieces.push({ text: text.slice(from, to), ...(from > 0 && { isContinued: true }) })
    from = to
  }
  return pieces
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
