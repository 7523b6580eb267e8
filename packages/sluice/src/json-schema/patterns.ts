/**
 * Which patterns are taken, and how long a string they may meet.
 *
 * A pattern is the author's code, and JavaScript may run it for years. Refused are the usual accidents, a repeated
 * group around a repeated thing such as `(\w+\s?)*`; and patterns that are not plainly linear only meet short strings.
 * That is no proof: whoever takes schemas from strangers should not run their patterns at all.
 */

const maxPattern = 2_048
const maxMatched = 4_096

/** Why a pattern is refused, and how to mend it. */
export function faultIn(pattern: string): string | undefined {
  const shown = `the pattern ${JSON.stringify(pattern.slice(0, 200))}`
  if (pattern.length > maxPattern) return `${shown} … is longer than ${maxPattern}; simplify it`
  try {
    new RegExp(pattern, 'u')
  } catch (cause) {
    return `${shown} is no regular expression (${String(cause)}); correct it`
  }
  if (!repeatsRepetition(structure(pattern))) return undefined
  return `${shown} repeats a repetition and may run for years; drop the inner or the outer one`
}

/** Escapes and classes become one letter. */
const structure = (pattern: string): string => pattern.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g, 'a')

/** Looks at an innermost group, and replaces it by what it amounts to. */
function repeatsRepetition(text: string): boolean {
  const group = /\((?:\?(?:[:=!]|<[=!]|<[^>()]*>))?([^()]*)\)([*+]|\{\d+,\}|\{\d+,\d{2,}\}|\{\d{2,}\})?/
  const [whole, body = '', repeated = ''] = group.exec(text) ?? []
  if (whole === undefined) return false
  const isRepetition = body.split('|').some(repeatsOneThing)
  return (
    (isRepetition && repeated !== '') || repeatsRepetition(text.replace(whole, isRepetition ? 'a+' : `a${repeated}`))
  )
}

/** `x+`, `x*y?` and the like: repeated once more, the same text can be cut up in exponentially many ways. */
function repeatsOneThing(body: string): boolean {
  const atoms = body.match(/[\s\S](?:[*+?]|\{\d+(?:,\d*)?\})?\??/g) ?? []
  const isRepeated = (atom: string): boolean => /^.(?:[*+]|\{\d+,)/s.test(atom)
  const needed = atoms.filter((atom) => !/^.(?:[*?]|\{0)/s.test(atom))
  return atoms.some(isRepeated) && needed.length < 2 && needed.every(isRepeated)
}

/** At most one long repetition, anchored, and no groups: time grows with the string and no faster. */
function isLinear(pattern: string): boolean {
  const bare = structure(pattern)
  const repetitions = bare.match(/[*+?]|\{\d+(?:,\d*)?\}/g) ?? []
  const short = repetitions.filter((one) => one === '?' || /^\{\d(?:,\d)?\}$/.test(one)).length
  const long = repetitions.length - short
  return !/[()|]/.test(bare) && short <= 2 && (long === 0 || (long === 1 && bare.startsWith('^')))
}

/** `test` is all that anybody calls. It throws where it must not run: `false` would let `not` and `if` pass. */
class ShortOnly extends RegExp {
  override test(value: string): boolean {
    if (value.length > maxMatched) throw new RangeError('Too long for this pattern')
    return super.test(value)
  }
}
export const toRegExp = (pattern: string): RegExp => new (isLinear(pattern) ? RegExp : ShortOnly)(pattern, 'u')
