import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { expandTemplate, parseTemplate } from './uri-template.ts'

/** The values that RFC 6570 uses throughout its examples. */
const values = {
  var: 'value',
  hello: 'Hello World!',
  half: '50%',
  who: 'fred',
  base: 'http://example.com/home/',
  path: '/foo/bar',
  dub: 'me/too',
  v: '6',
  x: '1024',
  y: '768',
  empty: '',
  undef: undefined,
  list: ['red', 'green', 'blue'],
  count: ['one', 'two', 'three'],
  keys: { semi: ';', dot: '.', comma: ',' },
  none: [],
  nothing: {},
}

describe('expanding', () => {
  test.each([
    // Simple strings
    ['{var}', 'value'],
    ['{hello}', 'Hello%20World%21'],
    ['{half}', '50%25'],
    ['O{empty}X', 'OX'],
    ['O{undef}X', 'OX'],
    ['{x,y}', '1024,768'],
    ['{x,hello,y}', '1024,Hello%20World%21,768'],
    ['?{x,empty}', '?1024,'],
    ['?{x,undef}', '?1024'],
    ['?{undef,y}', '?768'],
    ['{var:3}', 'val'],
    ['{var:30}', 'value'],
    ['{list}', 'red,green,blue'],
    ['{list*}', 'red,green,blue'],
    ['{keys}', 'semi,%3B,dot,.,comma,%2C'],
    ['{keys*}', 'semi=%3B,dot=.,comma=%2C'],
    // Reserved characters stay
    ['{+var}', 'value'],
    ['{+hello}', 'Hello%20World!'],
    ['{+half}', '50%25'],
    ['{base}index', 'http%3A%2F%2Fexample.com%2Fhome%2Findex'],
    ['{+base}index', 'http://example.com/home/index'],
    ['O{+empty}X', 'OX'],
    ['O{+undef}X', 'OX'],
    ['{+path}/here', '/foo/bar/here'],
    ['here?ref={+path}', 'here?ref=/foo/bar'],
    ['up{+path}{var}/here', 'up/foo/barvalue/here'],
    ['{+x,hello,y}', '1024,Hello%20World!,768'],
    ['{+path,x}/here', '/foo/bar,1024/here'],
    ['{+path:6}/here', '/foo/b/here'],
    ['{+list}', 'red,green,blue'],
    ['{+list*}', 'red,green,blue'],
    ['{+keys}', 'semi,;,dot,.,comma,,'],
    ['{+keys*}', 'semi=;,dot=.,comma=,'],
    // Fragments
    ['{#var}', '#value'],
    ['{#hello}', '#Hello%20World!'],
    ['{#half}', '#50%25'],
    ['foo{#empty}', 'foo#'],
    ['foo{#undef}', 'foo'],
    ['{#x,hello,y}', '#1024,Hello%20World!,768'],
    ['{#path,x}/here', '#/foo/bar,1024/here'],
    ['{#path:6}/here', '#/foo/b/here'],
    ['{#list*}', '#red,green,blue'],
    ['{#keys}', '#semi,;,dot,.,comma,,'],
    ['{#keys*}', '#semi=;,dot=.,comma=,'],
    // Labels
    ['{.who}', '.fred'],
    ['{.who,who}', '.fred.fred'],
    ['{.half,who}', '.50%25.fred'],
    ['X{.var}', 'X.value'],
    ['X{.empty}', 'X.'],
    ['X{.undef}', 'X'],
    ['X{.var:3}', 'X.val'],
    ['X{.list}', 'X.red,green,blue'],
    ['X{.list*}', 'X.red.green.blue'],
    ['X{.keys}', 'X.semi,%3B,dot,.,comma,%2C'],
    ['X{.keys*}', 'X.semi=%3B.dot=..comma=%2C'],
    ['X{.none}', 'X'],
    ['X{.nothing*}', 'X'],
    // Path segments
    ['{/who}', '/fred'],
    ['{/half,who}', '/50%25/fred'],
    ['{/who,dub}', '/fred/me%2Ftoo'],
    ['{/var,empty}', '/value/'],
    ['{/var,undef}', '/value'],
    ['{/var,x}/here', '/value/1024/here'],
    ['{/var:1,var}', '/v/value'],
    ['{/list}', '/red,green,blue'],
    ['{/list*}', '/red/green/blue'],
    ['{/list*,path:4}', '/red/green/blue/%2Ffoo'],
    ['{/keys}', '/semi,%3B,dot,.,comma,%2C'],
    ['{/keys*}', '/semi=%3B/dot=./comma=%2C'],
    // Parameters
    ['{;who}', ';who=fred'],
    ['{;half}', ';half=50%25'],
    ['{;empty}', ';empty'],
    ['{;v,empty,who}', ';v=6;empty;who=fred'],
    ['{;v,undef,who}', ';v=6;who=fred'],
    ['{;hello:5}', ';hello=Hello'],
    ['{;list}', ';list=red,green,blue'],
    ['{;list*}', ';list=red;list=green;list=blue'],
    ['{;keys}', ';keys=semi,%3B,dot,.,comma,%2C'],
    ['{;keys*}', ';semi=%3B;dot=.;comma=%2C'],
    // Queries
    ['{?who}', '?who=fred'],
    ['{?x,y}', '?x=1024&y=768'],
    ['{?x,y,empty}', '?x=1024&y=768&empty='],
    ['{?x,y,undef}', '?x=1024&y=768'],
    ['{?var:3}', '?var=val'],
    ['{?list}', '?list=red,green,blue'],
    ['{?list*}', '?list=red&list=green&list=blue'],
    ['{?keys}', '?keys=semi,%3B,dot,.,comma,%2C'],
    ['{?keys*}', '?semi=%3B&dot=.&comma=%2C'],
    ['?fixed=yes{&x}', '?fixed=yes&x=1024'],
    ['{&x,y,empty}', '&x=1024&y=768&empty='],
    ['{&var:3}', '&var=val'],
    ['{&list*}', '&list=red&list=green&list=blue'],
    ['{&keys*}', '&semi=%3B&dot=.&comma=%2C'],
  ])('%s expands to %s', (template, uri) => {
    expect(expandTemplate(template, values)).toBe(uri)
  })

  test('text past ASCII is encoded as UTF-8, in values and in the template', () => {
    expect(expandTemplate('note:grüße/{name}', { name: '世界' })).toBe('note:gr%C3%BC%C3%9Fe/%E4%B8%96%E7%95%8C')
  })

  test('a prefix counts characters and never cuts one in half', () => {
    expect(expandTemplate('{name:2}', { name: '👋👋👋' })).toBe('%F0%9F%91%8B%F0%9F%91%8B')
  })

  test('a prefix of a list is refused', () => {
    expect(() => expandTemplate('{list:2}', values)).toThrow('"list" has a maximum length')
  })

  test('an inherited property is not a value', () => {
    expect(expandTemplate('x{/constructor,__proto__,toString}', {})).toBe('x')
  })

  test('half a surrogate pair becomes the replacement character', () => {
    expect(expandTemplate('{a}{+a}', { a: '\ud800' })).toBe('%EF%BF%BD%EF%BF%BD')
  })
})

describe('matching', () => {
  test.each([
    ['note://all', 'note://all', {}],
    ['users://{id}/profile', 'users://ada/profile', { id: 'ada' }],
    ['users://{id}', 'users://Ada%20Lovelace', { id: 'Ada Lovelace' }],
    ['users://{id}', 'users://Ada Lovelace', { id: 'Ada Lovelace' }],
    ['users://{id}', 'users://größe', { id: 'größe' }],
    ['users://{id}', 'users://ada@example.com', { id: 'ada@example.com' }],
    ['größe://{id}', 'größe://1', { id: '1' }],
    ['größe://{id}', 'gr%C3%B6%C3%9Fe://1', { id: '1' }],
    ['users://{id}', 'users://a,b', { id: 'a,b' }],
    ['map://{x,y}', 'map://1024,768', { x: '1024', y: '768' }],
    ['map://{points*}', 'map://1,2,3', { points: ['1', '2', '3'] }],
    ['map://{points*}', 'map://1', { points: ['1'] }],
    ['git://{owner}:{repo}@{ref}', 'git://ada:engine@main', { owner: 'ada', repo: 'engine', ref: 'main' }],
    ['note://{name}.json', 'note://a.json.json', { name: 'a.json' }],
    ['note://{name}.json/raw', 'note://a.b.json/raw', { name: 'a.b' }],
    ['note://{name}.json{?v}', 'note://a.json?v=2', { name: 'a', v: '2' }],
    ['note://{id:3}', 'note://abc', { id: 'abc' }],
    ['file:///{+path}', 'file:///src/core/call.ts', { path: 'src/core/call.ts' }],
    ['file:{+path}', 'file:/src/core', { path: '/src/core' }],
    ['file:///{+path}.md', 'file:///docs/a.md', { path: 'docs/a' }],
    ['file:///{+path}{?line}', 'file:///a/b?line=3', { path: 'a/b', line: '3' }],
    ['file:///{+path}', 'file:///a/%62%20c', { path: 'a/b c' }],
    ['page{#part}', 'page#a/b?c', { part: 'a/b?c' }],
    ['page{#part}', 'page', {}],
    ['file{.type}', 'file.tar.gz', { type: 'tar.gz' }],
    ['file{.type}', 'file', {}],
    ['repo://x{/path*}', 'repo://x/a/b/c', { path: ['a', 'b', 'c'] }],
    ['repo://x{/path*}', 'repo://x', {}],
    ['repo://x{/path*}/raw', 'repo://x/a/raw/raw', { path: ['a', 'raw'] }],
    ['repo://x{/a,b}', 'repo://x/1/2', { a: '1', b: '2' }],
    ['repo://x{/a}{?q}', 'repo://x?q=1', { q: '1' }],
    ['map:{;x,y}', 'map:;y=2;x=1', { x: '1', y: '2' }],
    ['map:{;x,y}', 'map:;x', { x: '' }],
    ['map:{;at*}', 'map:;at=1;at=2', { at: ['1', '2'] }],
    ['search:{?q,limit}', 'search:?limit=5&q=a%26b', { q: 'a&b', limit: '5' }],
    ['search:{?q,limit}', 'search:?q=', { q: '' }],
    ['search:{?q,limit}', 'search:', {}],
    ['search:{?tag*}', 'search:?tag=a&tag=b', { tag: ['a', 'b'] }],
    ['search:{?q}', 'search:?q=a/b', { q: 'a/b' }],
    ['search:{?q}', 'search:?q=a=b', { q: 'a=b' }],
    ['search:?fixed=1{&q}', 'search:?fixed=1&q=x', { q: 'x' }],
  ])('%s matches %s', (template, uri, found) => {
    expect(parseTemplate(template).match(uri)).toStrictEqual(found)
  })

  test.each([
    ['users://{id}/profile', 'users://ada/profile/x'],
    ['users://{id}/profile', 'users://ada'],
    ['users://{id}', 'users://'],
    ['users://{id}', 'users://ada/profile'],
    ['users://{id}', 'users://ada?admin=1'],
    ['users://{id}', 'USERS://ada'],
    ['users://{id}', 'users://%'],
    ['users://{id}', 'users://%zz'],
    ['users://{id}', 'users://%ff'],
    ['users://{id}', 'users://%c0%ae%c0%ae'],
    ['users://{id}', 'users://\ud800'],
    ['users://{id:3}', 'users://abcd'],
    ['map://{x,y}', 'map://1'],
    ['map://{x,y}', 'map://1,2,3'],
    ['repo://x{/a,b}', 'repo://x/1'],
    ['repo://x{/a}', 'repo://xyz'],
    ['repo://x{/path*}', 'repo://x/a//b'],
    ['repo://x{/path*}', 'repo://x/'],
    ['search:{?q}', 'search:?q=1&q=2'],
    ['search:{?q}', 'search:?q=1&admin=1'],
    ['search:{?q}', 'search:?'],
    ['file:///{+path}', 'file:///a?b'],
    ['file://{+path}', 'file:///a'],
    ['note://all', 'note://all/'],
  ])('%s does not match %s', (template, uri) => {
    expect(parseTemplate(template).match(uri)).toBeUndefined()
  })

  test.each([
    '..',
    '.',
    '%2e%2e',
    '%2E',
    'a%2Fb',
    '..%2f..%2fetc%2fpasswd',
    'a%5Cb',
    'a\\b',
    'a%00',
    '%00',
    '...',
    '.. ',
    '..%20.',
  ])('a variable for one name does not match %s', (value) => {
    expect(parseTemplate('file:///{name}').match(`file:///${value}`)).toBeUndefined()
    expect(parseTemplate('file://{/name*}').match(`file:///a/${value}`)).toBeUndefined()
    expect(parseTemplate('file:{;name}').match(`file:;name=${value}`)).toBeUndefined()
    expect(parseTemplate('file:x{.name}').match(`file:x.${value}`)).toBeUndefined()
  })

  test.each([
    '..',
    '../etc/passwd',
    'a/../../b',
    'a/..',
    'a%2F..%2Fb',
    '%2e%2e/x',
    'a\\..\\b',
    'a%5C..',
    '..%5Cx',
    'a%00b',
    'a/.. /b',
  ])('a path does not leave its directory with %s', (value) => {
    expect(parseTemplate('file:///{+path}').match(`file:///${value}`)).toBeUndefined()
    expect(parseTemplate('file:{?path}').match(`file:?path=${value}`)).toBeUndefined()
    expect(parseTemplate('file:x{#path}').match(`file:x#${value}`)).toBeUndefined()
  })

  test('a path after a slash is not absolute, and has no backslash', () => {
    const { match } = parseTemplate('file:///{+path}')
    expect(match('file:////etc/passwd')).toBeUndefined()
    expect(match('file:///%2Fetc/passwd')).toBeUndefined()
    expect(match('file:///%5C%5Chost%5Cshare')).toBeUndefined()
  })

  test('names that contain dots match', () => {
    expect(parseTemplate('file:///{name}').match('file:///..a')).toEqual({ name: '..a' })
    expect(parseTemplate('file:///{+path}').match('file:///.git/a..b/...c')).toEqual({ path: '.git/a..b/...c' })
  })

  test('a variable may be called __proto__', () => {
    const found = parseTemplate('x:{__proto__}').match('x:1')
    expect(Object.entries(found ?? {})).toEqual([['__proto__', '1']])
  })
})

describe('templates that are refused', () => {
  test.each([
    ['a{b', 'no matching "}"'],
    ['a}b', 'no matching "{"'],
    ['{}', 'is not a variable'],
    ['{a b}', 'is not a variable'],
    ['{a,}', 'is not a variable'],
    ['{a:0}', 'is not a variable'],
    ['{a:10000}', 'is not a variable'],
    ['{a*:3}', 'is not a variable'],
    ['{.}', 'is not a variable'],
    ['{a..b}', 'is not a variable'],
    ['{{a}}', 'is not a variable'],
    ['{=a}', 'operator "="'],
    ['{|a}', 'operator "|"'],
    ['a b', 'write %20'],
    ['a<b', 'write %3C'],
    ['a%zz', 'write %25'],
    ['{a}/{a}', 'occurs twice'],
    ['{a}{b}', 'Put "/" or another reserved character between'],
    ['{a}-{b}', 'Put "/" or another reserved character between'],
    ['{name}{.type}', 'Put "/" or another reserved character between'],
    ['{+path}/history/{id}', 'Put "/" or another reserved character between'],
    ['{+path}{/rest*}', 'Put "/" or another reserved character between'],
    ['{/a}{/b}', 'Put "/" or another reserved character between'],
    ['{?a}{&b}', 'Put "/" or another reserved character between'],
    ['{a}{?q}.json', 'which may be missing'],
    ['{+a,b}', 'separator may also be part of a value'],
    ['{#a*}', 'separator may also be part of a value'],
    ['x{.a*}', 'separator may also be part of a value'],
    ['{/a,b*}', 'the start of the list is ambiguous'],
    ['x'.repeat(3_000), 'longer than 2048'],
    [Array.from({ length: 33 }, (_, n) => `{v${n}}`).join('/'), 'more than 32 variables'],
  ])('%.60s: %s', (template, problem) => {
    expect(() => parseTemplate(template)).toThrow(problem)
  })

  test('the message shows the template, and only the start of a long one', () => {
    expect(() => parseTemplate('note://{a}{b}')).toThrow(
      /^URI template "note:\/\/\{a\}\{b\}": \{a\}\{b\} cannot be matched/,
    )
    expect(() => parseTemplate('{'.repeat(100_000))).toThrow(
      expect.objectContaining({ message: expect.toSatisfy(isShort) }),
    )
  })
})
const isShort = (message: string) => message.length < 400

describe('both ways', () => {
  const isDots = (text: string) => /^[. ]*$/.test(text)
  const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[/\\\0]/.test(text) && !isDots(text))
  const path = fc
    .array(
      name.map((text) => text.replace(/[%?#]/g, '_')),
      { minLength: 1 },
    )
    .map((names) => names.join('/'))
  const query = fc.string({ unit: 'grapheme' }).filter((text) => !/[.\0]/.test(text))
  const list = fc.array(name, { minLength: 1 })
  const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })

  test.each([
    ['users://{id}/x', fc.record({ id: name })],
    ['x:{a}:{b}@{c}', fc.record({ a: name, b: name, c: name })],
    ['x:{a,b}', fc.record({ a: name, b: name })],
    ['x:{list*}', fc.record({ list })],
    ['x:{name}.json{?q}', fc.record({ name, q: optional(query) })],
    ['file:///{+path}{?q,tag*}', fc.record({ path, q: optional(query), tag: optional(list) })],
    ['x:y{/list*}{?q}{#part}', fc.record({ list: optional(list), q: optional(query), part: optional(path) })],
    ['x:y{;a,b}{/c}', fc.record({ a: name, b: name, c: optional(name) })],
    ['x:y{.type}', fc.record({ type: optional(name) })],
  ])('matching %s returns the values it was made from', (text, arbitrary) => {
    const template = parseTemplate(text)
    fc.assert(
      fc.property(arbitrary as fc.Arbitrary<Record<string, string | string[] | undefined>>, (given) => {
        const defined = Object.entries(given).filter(([, value]) => value !== undefined)
        expect(template.match(template.expand(given))).toEqual(Object.fromEntries(defined))
      }),
    )
  })

  test('every accepted template returns the values', () => {
    const mark = fc.constantFrom('', '', '+', '#', '.', '/', ';', '?', '&')
    const hole = fc.tuple(mark, fc.constantFrom('', '*'), fc.boolean())
    const text = fc.constantFrom('a', '/', '.', '-', ':', '/b/', '.json', ',', '?f=1', '&', '=', ';', '#', '%41')
    fc.assert(
      fc.property(
        fc.array(fc.oneof(hole, text), { maxLength: 6 }),
        fc.array(name, { minLength: 24, maxLength: 24 }),
        (parts, names) => {
          const given: Record<string, string | string[]> = {}
          const variable = (sign: string, star: string) => {
            const at = Object.keys(given).length
            const values = names
              .slice(at * 2, at * 2 + 2)
              .map((value) => (sign === '+' || sign === '#' ? value.replace(/[%?#]/g, '_') : value))
            given[`v${at}`] = star === '' ? (values[0] ?? '') : values
            return `v${at}${star}`
          }
          const written = parts.map((part) => {
            if (typeof part === 'string') return part
            const [sign, star, two] = part
            return `{${sign}${variable(sign, star)}${two ? `,${variable(sign, star)}` : ''}}`
          })
          const template = parsed(written.join(''))
          if (template) expect(template.match(template.expand(given))).toEqual(given)
        },
      ),
      { numRuns: 5_000 },
    )
  })
  const parsed = (template: string) => {
    try {
      return parseTemplate(template)
    } catch {
      return undefined
    }
  }

  const shapes = [
    '{id}',
    '{+path}',
    '{/id*}',
    '{/a,b}',
    '{list*}',
    '{;a,b*}',
    '{?a,b*}',
    'x{.a}',
    'a{#b}',
    '{a}:{b}/{c}',
    '{a}.json',
  ]

  test('matching never throws, and no matched value is unsafe', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '/',
        ',',
        '.',
        '..',
        ';',
        '?',
        '&',
        '#',
        '=',
        '%',
        '%2F',
        '%5c',
        '%00',
        '%2e',
        '%ff',
        ':',
        '\\',
        'a',
        'b',
        'json',
        '\0',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.constantFrom(...shapes), fc.array(piece, { maxLength: 20 }), (shape, pieces) => {
        const found = parseTemplate(shape).match(pieces.join(''))
        for (const value of Object.values(found ?? {}).flat()) {
          expect(value).not.toContain('\0')
          expect(value.split(/[/\\]/)).not.toContain('..')
          if (!/[+#?]/.test(shape)) expect(value).not.toMatch(/[/\\]/)
        }
      }),
      { numRuns: 5_000 },
    )
  })

  test('parsing throws only messages about the template', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '+',
      '#',
      '.',
      '/',
      ';',
      '?',
      '&',
      ',',
      ':',
      '*',
      '3',
      'a',
      'b',
      '%',
      '=',
      ' ',
      'ü',
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        try {
          parseTemplate(pieces.join('')).match('a/b?c=d')
        } catch (error) {
          expect(error).toBeInstanceOf(TypeError)
          expect(String(error)).toContain('URI template "')
        }
      }),
      { numRuns: 5_000 },
    )
  })

  test('long hostile text is read in one pass', () => {
    for (const shape of shapes)
      for (const unit of [',', '/', '.', ';', '&', '=', 'a', '%41', '%', '.json', '/a', ';a=', 'ü', '?', '#', ':']) {
        const { match } = parseTemplate(shape)
        const text = unit.repeat(100_000 / unit.length)
        // Takes about a millisecond. A quadratic matcher would need minutes, past the time a test has; a backtracking
        // one would not come back.
        match(text)
        match(`/${text}`)
        match(`?a=${text}`)
      }
  })
})
