/** The command parses every line with `sluice` in the documents. Lines that need no server are run. */

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { splitWords } from '../src/client/open.ts'
import { loadConfig } from '../src/config/load.ts'
import { createProgram } from '../src/program.ts'
import { aFolder, sluice } from './command.ts'

const root = new URL('../../../', import.meta.url).pathname
const documents = globSync(['*.md', 'docs/**/*.md', '{packages,servers}/*/README.md'], { cwd: root }).sort()

/** Removes the parts for the shell: comments and redirections. */
const toWords = (line: string): readonly string[] =>
  splitWords(
    line
      .replace(/^(npx @sluice\/cli|sluice) ?/, '')
      .replace(/\s+#\s.*$/, '')
      .replace(/\s+>.*$/, ''),
  )
const lines = documents.flatMap((document) =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)]
    .flatMap(([, block = '']) => block.split('\n'))
    .map((line) => line.replace(/^source <\((.*)\)$/, '$1'))
    .filter((line) => /^(npx @sluice\/cli|sluice) /.test(line))
    .map((line) => ({ document, line })),
)

/** The program with empty actions. */
function parsing(): Command {
  const signal = new AbortController().signal
  const terminal = { isTty: false, columns: 100, out: () => {}, err: () => {}, drained: async () => {} }
  const program = createProgram({ terminal, env: {}, cwd: '/', signal }, () => {})
  const empty = (command: Command): void => {
    if (command.commands.length === 0) command.action(() => {})
    command.commands.forEach(empty)
  }
  empty(program)
  return program
}

test.each(lines)('$document: $line', async ({ line }) => {
  await parsing().parseAsync([...toWords(line)], { from: 'user' })
})

test('the documents show every command', () => {
  const used = new Set(lines.map(({ line }) => toWords(line)[0]))
  expect([...used].sort()).toEqual(
    parsing()
      .commands.map((command) => command.name())
      .sort(),
  )
})

const configurations = documents.flatMap((document) =>
  [...readFileSync(join(root, document), 'utf8').matchAll(/^```yaml\n# sluice\.config\.yaml\n(.*?)^```$/gms)].map(
    ([, text = '']) => ({ document, text }),
  ),
)
test.each(configurations)('$document: the configuration is valid', async ({ text }) => {
  const cwd = aFolder()
  writeFileSync(join(cwd, 'sluice.config.yaml'), text)
  await loadConfig({ cwd, env: {} })
})

/** Lines that run on an empty folder. Lines with `<id>` or a URL need something that a reader has. */
const standalone = /^(keys (create|list)|approvals (list|rules)|audit verify|tenants|config|completion)\b/
const runnable = [...new Set(lines.map(({ line }) => toWords(line).join(' ')))].filter((line) => standalone.test(line))

test.each(runnable)('sluice %s', async (line) => {
  const { code, err } = await sluice(aFolder(), splitWords(line))
  expect(code, err).toBe(0)
})
