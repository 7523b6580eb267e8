/** The gated tools of the five servers: each states what a call acts on, so that an approval holds for that alone. */

import type { OpenServer } from 'sluice'
import { nodeClock } from 'sluice/node'
import { expect, onTestFinished, test } from 'vitest'
import { open as fitness } from '../../servers/fitness/src/index.ts'
import { open as knowledge } from '../../servers/knowledge/src/index.ts'
import { open as lisp } from '../../servers/lisp/src/index.ts'
import { open as memory } from '../../servers/memory/src/index.ts'
import { open as routes } from '../../servers/routes/src/index.ts'
import { casesOf } from '../event-loop/cases.ts'
import { temporaryFolder } from '../kit/processes/temporary-folder.ts'

const servers: { readonly [name: string]: OpenServer } = { fitness, knowledge, lisp, memory, routes }
const logger = { info() {}, warn() {}, error() {} }
const cases = casesOf(0)

test.each(Object.entries(servers))('every gated tool of %s states what a call acts on', async (server, open) => {
  const opened = await open({ folder: temporaryFolder(), env: {}, clock: nodeClock, logger })
  onTestFinished(opened.close)
  const { tools = [] } = opened.definition
  for (const { name, policy, prepare } of tools.filter((each) => each.policy.approval !== 'never')) {
    const args = cases.find((each) => each.server === server && each.tool === name)?.arguments()
    expect(await prepare(args), `${name} with ${policy.approval}`).toHaveProperty('effect', expect.any(Function))
  }
})
