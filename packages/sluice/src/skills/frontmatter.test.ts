/** The reader of frontmatter against a YAML library: it reads the same, or refuses. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { parseFrontmatter } from './frontmatter.ts'

const inFile = (yaml: string): string => `---\n${yaml}\n---\n# Body\n`
const ours = (yaml: string): unknown => parseFrontmatter(inFile(yaml))

test.each([
  'name: pdf\ndescription: Fills forms',
  'a: 1\nb: -2.5e3\nc: 0x1F\nd: 0o17\ne: 1.\nf: .5\ng: "1"\nh: 1.10\ni: 1e3',
  'a: true\nb: False\nc: null\nd: ~\ne:\nf: yes\ng: "true"\nh: 2026-11-17\ni: 1.2.3\nj: 12:30',
  "a: 'it''s'\nb: \"x\\ty\\u00fc\\\"\\\\\"\nc: \"\"\nd: '' # comment",
  'a: one # comment\nb: one#two\nc: http://x.example:80/#a\nd: a:b',
  'a: first line\n  second line\n\n  third\nb: x',
  'a:\n  on the next line\n  and the next\nb: "x"\nc:\n  "quoted below"',
  'a: |\n  one\n   two\n\n  three\n\nb: >\n  one\n  two\n\n  three\n    four\n  five\nc: |-\n  x\nd: >-\n  y\n  z',
  'a: >\n\n  begins empty\n\n\n  two empty lines\nb: >-\n  x\n\n    deeper\n\n  y',
  'a: >- # comment\n  x\nb: |\nc: x',
  'a: [x, "y, z", 1, true, [nested], {k: v}]\nb: {a: 1, "b": [2], c: , d: x y}\nc: []\nd: {}\ne: [a, ]',
  'a:\n  - x\n  - "y"\n  -\n  - 1 # one\nb:\n- x\n- y\nc:\n    d:\n        e: f\n    g: h',
  'a:\n  -\n    b: c\n    d: e\n  -\n    - x\n    - y',
  '# comment\n\na: b\n  # comment\nc: d\n\n',
  '"quoted key": x\n\'other\': y\nkey with spaces: z\nkey.dotted/x: w',
  'allowed-tools: Read, Bash(git:*)\nmetadata:\n  short-description: x',
  'a: "x"\r\nb: >\r\n  y\r\n  z',
])('reads like a YAML library: %j', (yaml) => {
  expect(ours(yaml)).toEqual(parse(yaml.replaceAll('\r\n', '\n'), { schema: 'core' }))
})

test.each([
  ['a: b: c', 'line 2: a text with ": " in it needs quotes'],
  ['a: x\na: y', 'line 3: "a" is there twice'],
  ['a: &x y', 'line 2: "&" cannot begin a text here'],
  ['a: *x', 'line 2: "*" cannot begin a text here'],
  ['a: !!str 5', 'line 2: "!" cannot begin a text here'],
  ['a: @x', 'line 2: "@" cannot begin'],
  ['a: %x', 'line 2: "%" cannot begin'],
  ['a: "x" y', 'line 2: text follows the value'],
  ['a: "x\n  y"', 'line 2: a quoted text must end on the line where it begins'],
  ['a: [x,\n  y]', 'line 2: a list or map in brackets must end'],
  ['a: [x: y]', 'line 2: a text with ": " in it needs quotes'],
  ['a: {x}', 'line 2: expected "key: value"'],
  ['a: .inf', 'line 2: .inf is not a JSON value'],
  ['a: 12345678901234567890', 'line 2: 12345678901234567890 is too large'],
  ['1: a', 'line 2: the key "1" must be in quotes'],
  ['? a\n: b', 'line 2: '],
  ['a: |2\n    x', 'line 2: "|2" is not read here'],
  ['a: |+\n  x', 'line 2: "|+" is not read here'],
  ['a:\n\tb: c', 'line 3: indent with spaces'],
  ['a:\n  b: c\n d: e', 'line 4: '],
  ['a: x\n    b: y', 'line 3: a text with'],
  ['- a', 'line 2: the fields must be "key: value"'],
  ['', 'line 2: the fields must be "key: value"'],
  ['just text', 'line 2: expected "key: value"'],
  ['a:\n  - b: c', 'line 3: begin a map or list inside a list on its own line'],
  ['a:\n# comment\n  x', 'line 4: put the text on the line of its key'],
  ['a: "\\q"', 'line 2: \\q is not an escape'],
  ['a: x # c\n  y', 'line 3: this line is indented more'],
])('refuses with the line: %j', (yaml, problem) => {
  expect(() => ours(yaml)).toThrow(problem)
})

/** Pieces that YAML gives a meaning, in any order: far more than people write. */
const piece = fc.constantFrom(
  ...[
    'a',
    'b c',
    'é',
    '1',
    '-2',
    '0.5',
    'true',
    'null',
    '~',
    '"',
    "'",
    '#',
    ' #',
    ':',
    ': ',
    '- ',
    '-',
    '|',
    '>',
    '>-',
    '|-',
  ],
  ...[
    '[',
    ']',
    '{',
    '}',
    ',',
    ', ',
    '&x',
    '*x',
    '!t',
    '%',
    '@',
    '\\n',
    '\\',
    '  ',
    ' ',
    '\n',
    '\n  ',
    '\n    ',
    '\n- ',
    '\n  - ',
  ],
  ...['\nk: ', '\nm:\n  n: ', '\t', '?', '`', '.inf', '1e5', '---', '...', '\n\n', '"x"', "'y'", '[a, b]', '{a: b}'],
)

test('reads any text like a YAML library, or refuses it', () => {
  let read = 0
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const yaml = `first: ${pieces.join('')}`
      let found: unknown
      try {
        found = ours(yaml)
      } catch (thrown) {
        expect(thrown).toBeInstanceOf(TypeError)
        return
      }
      read++
      const inside = /^---\n([\s\S]*?)\n---[ \t]*(?:\n|$)/.exec(inFile(yaml))?.[1] ?? ''
      expect(found).toEqual(parse(inside, { schema: 'core', logLevel: 'silent' }))
    }),
    { numRuns: 20_000 },
  )
  expect(read).toBeGreaterThan(1000)
})
