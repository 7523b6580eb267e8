/**
 * The programming languages that are indexed, and how their definitions begin. A line is compared with patterns, which
 * is enough to find functions and classes without a parser per language.
 */

export interface Language {
  readonly name: string
  readonly extensions: readonly string[]
  readonly definitions: readonly Definition[]
}
interface Definition {
  readonly kind: 'function' | 'class'
  /** The first group is the name. Every repetition is followed by a character that it cannot match. */
  readonly pattern: RegExp
}

const functions = (...patterns: readonly RegExp[]): readonly Definition[] =>
  patterns.map((pattern) => ({ kind: 'function', pattern }))
const classes = (...patterns: readonly RegExp[]): readonly Definition[] =>
  patterns.map((pattern) => ({ kind: 'class', pattern }))

const script: readonly Definition[] = [
  ...functions(
    /^\s*(?:export )?(?:default )?(?:async )?function\*? ([\w$]+)/,
    /^\s*(?:export )?(?:const|let) ([\w$]+)[^=]*=\s*(?:async )?(?:\(|[\w$]+ =>|function)/,
    /^\s+(?:public |private |protected |static |override |async )*(?!(?:if|for|while|switch|catch|return|function)\b)([\w$#]+)\([^)]*\)[^;{]*\{$/,
  ),
  ...classes(
    /^\s*(?:export )?(?:default )?(?:abstract )?(?:class|interface|enum) ([\w$]+)/,
    /^\s*(?:export )?type ([\w$]+)[^=]*=/,
  ),
]
const braces: readonly Definition[] = [
  ...classes(/^\s*(?:[a-z]+ )*(?:class|interface|enum|record|struct|object|trait) (\w+)/),
  ...functions(
    /^\s*(?:[a-z]+ )*fun (?:<[^>]*> )?(\w+)/,
    /^\s*(?!(?:return|else|new|throw|if|for|while|switch)\b)(?:[\w<>[\],.?]+ )+(\w+)\([^)]*\)[^;]*\{$/,
  ),
]

export const languages: readonly Language[] = [
  { name: 'typescript', extensions: ['ts', 'tsx', 'mts', 'cts'], definitions: script },
  { name: 'javascript', extensions: ['js', 'jsx', 'mjs', 'cjs'], definitions: script },
  {
    name: 'python',
    extensions: ['py'],
    definitions: [...functions(/^\s*(?:async )?def (\w+)/), ...classes(/^\s*class (\w+)/)],
  },
  {
    name: 'go',
    extensions: ['go'],
    definitions: [...functions(/^func (?:\([^)]*\) )?(\w+)/), ...classes(/^type (\w+) (?:struct|interface)/)],
  },
  {
    name: 'rust',
    extensions: ['rs'],
    definitions: [
      ...functions(/^\s*(?:pub(?:\([^)]*\))? )?(?:const |async |unsafe )*fn (\w+)/),
      ...classes(/^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) (\w+)/),
    ],
  },
  { name: 'java', extensions: ['java'], definitions: braces },
  { name: 'kotlin', extensions: ['kt', 'kts'], definitions: braces },
  { name: 'csharp', extensions: ['cs'], definitions: braces },
  {
    name: 'ruby',
    extensions: ['rb'],
    definitions: [...functions(/^\s*def (?:self\.)?([\w?!]+)/), ...classes(/^\s*(?:class|module) (\w+)/)],
  },
  {
    name: 'php',
    extensions: ['php'],
    definitions: [
      ...functions(/^\s*(?:[a-z]+ )*function &?(\w+)/),
      ...classes(/^\s*(?:[a-z]+ )*(?:class|interface|trait|enum) (\w+)/),
    ],
  },
  {
    name: 'c',
    extensions: ['c', 'h', 'cc', 'cpp', 'hpp'],
    definitions: [
      ...classes(/^\s*(?:class|struct|enum) (\w+)[^;]*$/),
      ...functions(/^(?!(?:return|else|typedef)\b)[\w:*&<> ]+[ *&]([\w:~]+)\([^;]*$/),
    ],
  },
  {
    name: 'lisp',
    extensions: ['lisp', 'lsp', 'cl'],
    definitions: [
      ...functions(/^\(def(?:un|macro|method|generic) ([^\s()]+)/),
      ...classes(/^\(def(?:class|struct) \(?([^\s()]+)/),
    ],
  },
]

export const languageNames: readonly string[] = languages.map(({ name }) => name)
