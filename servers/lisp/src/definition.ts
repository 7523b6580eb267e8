/** The server definition: tools, the guides as resources, and workflows as prompts. */

import { readFileSync } from 'node:fs'
import type { Resource, ServerDefinition } from 'sluice'
import { defineServer, prompt, resource } from 'sluice'
import type { App } from './app.ts'
import { description, version } from './package.ts'
import { breakpointTools } from './tools/breakpoints.ts'
import { codeTools } from './tools/code.ts'
import { debuggerTools } from './tools/debugger.ts'
import { readingTools } from './tools/reading.ts'
import { replTools } from './tools/repl.ts'

/** A resource is one of this list, never a path from a client. */
const guides = ['getting-started', 'approvals', 'debugging', 'hot-reload', 'profiling'] as const

const guide = (name: (typeof guides)[number]): Resource => {
  const text = readFileSync(new URL(`../docs/${name}.md`, import.meta.url), 'utf8')
  return resource({
    uri: `file:///docs/${name}.md`,
    name: `${name}.md`,
    title: /^# (.*)/.exec(text)?.[1] ?? name,
    description: `How to work with the image: ${name.replace('-', ' ')}`,
    mimeType: 'text/markdown',
    size: Buffer.byteLength(text),
    read: () => text,
  })
}

const workflow = (name: string, description: string, text: string): ReturnType<typeof prompt> =>
  prompt({ name, description, run: () => text })

export const defineLisp = (sessions: App): ServerDefinition =>
  defineServer({
    name: 'lisp',
    version,
    title: 'Live Lisp',
    description,
    instructions:
      'A live Common Lisp image. Reading tools run at once, repl_read too; tools that run or change code wait for a person to approve exactly that code. The image opens by itself. After an error look with debugger_restarts and debugger_frames.',
    tools: [
      ...replTools(sessions),
      ...readingTools(sessions),
      ...debuggerTools(sessions),
      ...breakpointTools(sessions),
      ...codeTools(sessions),
    ],
    resources: guides.map(guide),
    prompts: [
      workflow(
        'getting-started',
        'First steps with the image.',
        'Call repl_status, then repl_eval with (lisp-implementation-version). Read file:///docs/getting-started.md. Explain to me what you can do here and what needs my approval.',
      ),
      workflow(
        'debugging-workflow',
        'Find out why something fails.',
        'Evaluate the failing form with repl_eval. When it stops in the debugger, read the condition and list the stack with debugger_frames. Look at the variables of the frames that are ours, and explain the cause. Only then propose a restart or a changed definition.',
      ),
      workflow(
        'hot-reload-workflow',
        'Change a running program.',
        'Describe the function with repl_describe, write the new definition, compile it with repl_compile, show me every warning, then try it with repl_eval. Change one definition at a time.',
      ),
      workflow(
        'profiling-workflow',
        'Find out where the time goes.',
        'Ask me for the package to profile. profile_start, run the workload with repl_eval, profile_report, then profile_stop. Name the three functions that cost most and what you would try.',
      ),
    ],
  })
