/** The width of text in a terminal. All text here has passed `markedText`, so it has no control characters. */

const wide =
  /[\p{Emoji_Presentation}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u
const combining = /\p{M}/u

const widthOf = (character: string): number => (combining.test(character) ? 0 : wide.test(character) ? 2 : 1)

/** Splits a line into pieces of at most `width` columns. An empty line is one piece. */
export function wrapColumns(line: string, width: number): readonly string[] {
  const pieces: string[] = []
  let [piece, used] = ['', 0]
  for (const character of line) {
    const columns = widthOf(character)
    if (used + columns > width) {
      pieces.push(piece)
      piece = ''
      used = 0
    }
    piece += character
    used += columns
  }
  return [...pieces, piece]
}

/** Cuts a line to `width` columns, and fills it with spaces to exactly that many. */
export function fitColumns(line: string, width: number): string {
  const [first = '', ...rest] = wrapColumns(line, width)
  if (rest.length === 0) return pad(first, width)
  const [cut = ''] = wrapColumns(line, Math.max(width - 1, 1))
  return pad(`${cut}…`, width)
}

function pad(text: string, width: number): string {
  const used = [...text].reduce((sum, character) => sum + widthOf(character), 0)
  return `${text}${' '.repeat(Math.max(0, width - used))}`
}
