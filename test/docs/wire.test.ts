/** The curl lines of docs/on-the-wire.md work: each block runs in order, and its output holds what the block says. */

import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openWireExample } from '../../examples/wire.ts'

const document = readFileSync(new URL('../../docs/on-the-wire.md', import.meta.url), 'utf8')
const blocks = [...document.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, code = '']) => code)

test('each line is answered as the page says', async () => {
  const { serving, agent, person } = await openWireExample(0)
  onTestFinished(() => serving.close())
  const folder = mkdtempSync(join(tmpdir(), 'sluice-wire-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  // One shell for all blocks, because later ones use the variables of earlier ones.
  const script = blocks.map((code, index) => `{\n${code}} > block-${index}.txt`).join('\n')
  const { port } = new URL(serving.url)
  writeFileSync(join(folder, 'lines.sh'), `set -eu\n${script.replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)}`)
  const env = { PATH: process.env['PATH'], AGENT: agent, PERSON: person }
  await new Promise<void>((resolve, reject) => {
    execFile('bash', ['lines.sh'], { cwd: folder, env }, (error) => (error ? reject(error) : resolve()))
  })

  for (const [index, code] of blocks.entries()) {
    const output = readFileSync(join(folder, `block-${index}.txt`), 'utf8')
    for (const [, expected = ''] of code.matchAll(/^# → (.*)$/gm)) expect(output).toContain(expected)
  }
  expect(blocks.join('').match(/^# → /gm)?.length).toBeGreaterThan(15)
})
