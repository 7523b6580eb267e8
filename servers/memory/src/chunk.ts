/**
 * A long text in pieces that a search can point at and an embedding model can take: windows of tokens that overlap, cut
 * where the text itself has a joint.
 *
 * A token here is up to six letters or digits of one word, one ideograph or kana, or one other sign. That is near what
 * the tokenizers of embedding models make of a text and the same for all of them: a vocabulary of one model would be
 * wrong for the next, and the pieces would move with it.
 */

export interface Chunk {
  /** `text.slice(start, end)`: offsets in UTF-16 code units, never inside a character. */
  readonly start: number
  readonly end: number
}

export interface ChunkOptions {
  /** Tokens a piece has at most. */
  readonly size?: number
  /** Tokens a piece repeats of the one before it, so that a sentence on a joint is whole in one of them. */
  readonly overlap?: number
}

const ideographs = String.raw`\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}`
const token = new RegExp(String.raw`[${ideographs}]|[[\p{L}\p{M}\p{N}_]--[${ideographs}]]{1,6}|\S`, 'gv')

/** Joints from best to worst: a paragraph, a line, a sentence. Looked for in what lies between two tokens. */
const joints: readonly RegExp[] = [/\n\s*\n/, /\n/]
const sentenceEnd = /[.!?。！？]$/

/** Every piece but the last depends only on the text up to its end: what is appended moves no earlier piece. */
export function chunk(text: string, options: ChunkOptions = {}): readonly Chunk[] {
  for (const steps = chunking(text, options); ; ) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** The same without a long turn of the event loop: ten million characters take a quarter of a second. */
export async function chunkInTurns(text: string, options: ChunkOptions = {}): Promise<readonly Chunk[]> {
  // The turn that parsed the message of a long text was long enough.
  if (text.length > longText) await new Promise((resolve) => setImmediate(resolve))
  for (const steps = chunking(text, options); ; ) {
    const { done, value } = steps.next()
    if (done) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const longText = 100_000

/** Tokens or pieces of work between two pauses: some milliseconds. */
const stepTokens = 1 << 16

/** Pauses where a caller may let others run. */
function* chunking(
  text: string,
  { size = 512, overlap = 50 }: ChunkOptions,
): Generator<undefined, readonly Chunk[], undefined> {
  const [starts, ends] = yield* tokensOf(text)
  const count = starts.length
  if (count <= size) return count === 0 ? [] : [{ start: starts[0] ?? 0, end: ends[count - 1] ?? 0 }]
  const chunks: Chunk[] = []
  for (let from = 0; ; ) {
    const until = from + size < count ? cutBefore(text, starts, ends, from + Math.ceil(size / 2), from + size) : count
    chunks.push({ start: starts[from] ?? 0, end: ends[until - 1] ?? text.length })
    if (until === count) return chunks
    from = Math.max(until - overlap, from + 1)
    if (chunks.length % 100 === 0) yield
  }
}

function* tokensOf(text: string): Generator<undefined, readonly [Int32Array, Int32Array], undefined> {
  // Typed arrays: ten million characters are three million tokens, and as objects they would take a second to collect.
  let [starts, ends] = [new Int32Array(1024), new Int32Array(1024)]
  let count = 0
  // Its place is kept here: during a pause another text may be taken apart with the same expression.
  for (let from = 0; ; ) {
    token.lastIndex = from
    if (!token.test(text)) break
    from = token.lastIndex
    if (count === starts.length) [starts, ends] = [grown(starts), grown(ends)]
    ends[count] = from
    if (++count % stepTokens === 0) yield
  }
  // A token is as long as what precedes its end without a break; asking for each match's index would make an array each.
  for (let at = 0, previous = 0; at < count; at++) {
    const end = ends[at] ?? 0
    starts[at] = firstVisible(text, previous, end)
    previous = end
    if (at > 0 && at % (stepTokens * 4) === 0) yield
  }
  return [starts.subarray(0, count), ends.subarray(0, count)]
}

function grown(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(array.length * 2)
  larger.set(array)
  return larger
}

/** Between two tokens there is nothing but white space. */
function firstVisible(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) if (!isSpace(text.charCodeAt(at))) return at
  return end
}
const isSpace = (code: number): boolean =>
  code === 32 || (code >= 9 && code <= 13) || (code >= 160 && /\s/.test(String.fromCharCode(code)))

/** The last good joint in the second half of the window; without one, where the window is full. */
function cutBefore(text: string, starts: Int32Array, ends: Int32Array, least: number, most: number): number {
  const gapBefore = (at: number): string => text.slice(ends[at - 1], starts[at])
  for (const joint of joints) for (let at = most; at > least; at--) if (joint.test(gapBefore(at))) return at
  for (let at = most; at > least; at--)
    if (gapBefore(at) !== '' && sentenceEnd.test(text.slice(starts[at - 1], ends[at - 1]))) return at
  for (let at = most; at > least; at--) if (gapBefore(at) !== '') return at
  return most
}
