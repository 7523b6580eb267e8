/**
 * Regular expressions in linear time: a string of n characters takes at most n steps per state of the pattern.
 *
 * JavaScript's engine backtracks. `^(a|a)*$` and `^(.*a){12}$` take it seconds on 30 characters, so one argument would
 * freeze every caller. Here a pattern becomes an automaton, and all its states are followed at once. The string is read
 * from its end, so that each position knows whether the pattern matches from there on. A lookahead is then one more
 * automaton. Back references and lookbehind have no linear form, and such a pattern is refused.
 */

import type { PatternNode } from './pattern-syntax.ts'
import { parsePattern, UnsupportedPattern } from './pattern-syntax.ts'

const maxSource = 2_048
const maxStates = 5_000
/** Maximum steps of all tests of one validation. A step takes about 30 ns. */
export const maxPatternSteps = 3_000_000

/** The steps left to all patterns of a schema. One argument may hold thousands of strings. */
export interface PatternSteps {
  remaining: number
}

/**
 * A compiled pattern. `test` throws `RangeError` if no steps are left, because `false` would let `not` and `if` pass.
 */
export interface Pattern {
  readonly source: string
  test(text: string): boolean
}

/** Returns why a pattern is refused and how to fix it; `undefined` if it is accepted. */
export function patternProblem(source: string): string | undefined {
  const shown = `the pattern ${JSON.stringify(source.slice(0, 200))}`
  if (source.length > maxSource) return `${shown} … is longer than ${maxSource}; simplify it`
  try {
    new RegExp(source, 'u')
  } catch (cause) {
    return `${shown} is not a regular expression (${String(cause)}); correct it`
  }
  try {
    compile(parsePattern(source))
    return undefined
  } catch (error) {
    if (!(error instanceof UnsupportedPattern)) throw error
    return `${shown} uses ${error.message}, which cannot be matched in linear time; rewrite it`
  }
}

/** Compiles a pattern that `patternProblem` accepts. */
export function toPattern(source: string, steps: PatternSteps): Pattern {
  if (isPlain(source)) return new RegExp(source, 'u')
  const automaton = compile(parsePattern(source))
  return {
    source,
    test(text) {
      return matches(automaton, Array.from(text), steps, undefined)
    },
  }
}

/**
 * Returns whether JavaScript's own engine, which is faster, is linear too. It is if the pattern has no group and at
 * most one unbounded repetition, with an anchor at the start. `^[A-Za-z0-9+/]*={0,2}$` is such a pattern, and is
 * applied to megabytes of base64.
 */
function isPlain(source: string): boolean {
  const bare = source.replace(/\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]/g, 'a')
  const repetitions = bare.match(/[*+?]|\{\d+(?:,\d*)?\}/g) ?? []
  const long = repetitions.filter((one) => one !== '?' && !/^\{\d(?:,\d)?\}$/.test(one)).length
  return !/[()|]/.test(bare) && repetitions.length - long <= 2 && (long === 0 || (long === 1 && bare.startsWith('^')))
}

/** Returns whether a step may be taken at `index`, which is between two characters. */
type Guard = (run: Run, index: number) => boolean
interface Run {
  readonly characters: readonly string[]
  /** For each lookahead of the automaton, the positions from which its body matches. */
  readonly lookaheads: readonly Uint8Array[]
}
interface Automaton {
  readonly start: number
  readonly accept: number
  /** The steps that lead to a state, by state: those that consume a character, and those that do not. */
  readonly consuming: readonly (readonly { readonly from: number; readonly atom: Atom }[])[]
  readonly empty: readonly (readonly { readonly from: number; readonly guard: Guard | undefined }[])[]
  readonly lookaheads: readonly Automaton[]
}
type Atom = (character: string) => boolean

function compile(pattern: PatternNode): Automaton {
  const consuming: { from: number; atom: Atom }[][] = []
  const empty: { from: number; guard: Guard | undefined }[][] = []
  const lookaheads: Automaton[] = []
  const atoms = new Map<string, Atom>()
  const start = addState()
  const accept = emit(pattern, start)
  return { start, accept, consuming, empty, lookaheads }

  function addState(): number {
    if (empty.length >= maxStates) throw new UnsupportedPattern(`more than ${maxStates} repetitions`)
    consuming.push([])
    return empty.push([]) - 1
  }

  function connect(from: number, to: number, guard?: Guard): number {
    empty[to]?.push({ from, guard })
    return to
  }

  /** Adds the states of `node` after `from`. Returns the state that is reached when it has matched. */
  function emit(node: PatternNode, from: number): number {
    switch (node.type) {
      case 'atom': {
        const atom = atoms.get(node.source) ?? toAtom(node.source)
        atoms.set(node.source, atom)
        const to = addState()
        consuming[to]?.push({ from, atom })
        return to
      }
      case 'assertion':
        return connect(from, addState(), assertions[node.kind])
      case 'lookahead': {
        const index = lookaheads.push(compile(node.body)) - 1
        const expected = node.negative ? 0 : 1
        return connect(from, addState(), (run, at) => run.lookaheads[index]?.[at] === expected)
      }
      case 'sequence':
        return node.nodes.reduce((state, inner) => emit(inner, state), from)
      case 'alternatives': {
        const ends = node.nodes.map((inner) => emit(inner, from))
        const to = addState()
        for (const end of ends) connect(end, to)
        return to
      }
      case 'repeat':
        return emitRepeat(node, from)
    }
  }

  function emitRepeat({ body, min, max }: PatternNode & { type: 'repeat' }, from: number): number {
    let state = from
    for (let count = 0; count < min; count += 1) state = emit(body, state)
    if (max === Infinity) {
      const loop = connect(state, addState())
      connect(emit(body, loop), loop)
      return connect(loop, addState())
    }
    const ends = [state]
    for (let count = min; count < max; count += 1) {
      state = emit(body, state)
      ends.push(state)
    }
    const to = addState()
    for (const end of ends) connect(end, to)
    return to
  }
}

/** Compiles one atom. It caches its results for ASCII. */
function toAtom(source: string): Atom {
  const expression = new RegExp(`^${source}$`, 'u')
  const verdicts = new Uint8Array(128)
  return (character) => {
    const code = character.length === 1 ? character.charCodeAt(0) : 128
    if (code >= 128) return expression.test(character)
    if (verdicts[code] === 0) verdicts[code] = expression.test(character) ? 1 : 2
    return verdicts[code] === 1
  }
}

const isWord = (character: string | undefined): boolean => character !== undefined && /^\w$/.test(character)
const isBoundary: Guard = ({ characters }, index) => isWord(characters[index - 1]) !== isWord(characters[index])
const assertions: { readonly [kind in '^' | '$' | 'b' | 'B']: Guard } = {
  '^': (_, index) => index === 0,
  $: ({ characters }, index) => index === characters.length,
  b: isBoundary,
  B: (run, index) => !isBoundary(run, index),
}

/**
 * Follows the automaton from the end of the text to its start. With `found`, marks each position from which it matches
 * and reads the whole text; otherwise stops at the first.
 */
function matches(
  automaton: Automaton,
  characters: readonly string[],
  steps: PatternSteps,
  found: Uint8Array | undefined,
): boolean {
  const lookaheads = automaton.lookaheads.map((inner) => {
    const positions = new Uint8Array(characters.length + 1)
    matches(inner, characters, steps, positions)
    return positions
  })
  const run: Run = { characters, lookaheads }
  const { start, accept, consuming, empty } = automaton
  /** The last position at which a state was reached, so that none is followed twice at one position. */
  const reachedAt = new Int32Array(empty.length).fill(-1)
  let states: number[] = []
  for (let index = characters.length; index >= 0; index -= 1) {
    if (reachedAt[accept] !== index) {
      reachedAt[accept] = index
      states.push(accept)
    }
    // Grows during the loop.
    for (const state of states) {
      steps.remaining -= 1
      for (const { from, guard } of empty[state] ?? []) {
        if (reachedAt[from] === index || guard?.(run, index) === false) continue
        reachedAt[from] = index
        states.push(from)
      }
    }
    if (reachedAt[start] === index) {
      if (!found) return true
      found[index] = 1
    }
    if (steps.remaining < 0) throw new RangeError('Too long for this pattern')
    const character = characters[index - 1]
    if (character === undefined) break
    const previous: number[] = []
    for (const state of states) {
      for (const { from, atom } of consuming[state] ?? []) {
        if (reachedAt[from] === index - 1 || !atom(character)) continue
        reachedAt[from] = index - 1
        previous.push(from)
      }
    }
    states = previous
  }
  return false
}
