/** Asks a few questions, or takes the answers from flags, and creates the project. */

import { parseArgs } from 'node:util'
import { cancel, intro, isCancel, note, outro, select, text } from '@clack/prompts'
import { create, type Template, templates } from './create.ts'

const usage = `npm create sluice [folder] [-- --template node|workerd] [--yes]

Creates a new MCP server project: a server, its test, and a way to deploy it.
Asks for options that are not given.

  --template <name>  the runtime: node (HTTP and stdio) or workerd (the edge)
  --yes              use the defaults instead of asking
  --help             show this help

Examples:
  $ npm create sluice
  $ npm create sluice my-server -- --template workerd --yes`

const defaultFolder = 'my-server'

/** Returns the exit code. Never throws. */
export async function run(): Promise<number> {
  try {
    return await main()
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${usage}\n`)
    return 2
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      template: { type: 'string' },
      sluice: { type: 'string' },
      yes: { type: 'boolean', short: 'y' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) {
    process.stdout.write(`${usage}\n`)
    return 0
  }
  if (values.template !== undefined && !isTemplate(values.template))
    throw new Error(`--template must be ${templates.join(' or ')}, not "${values.template}"`)
  const isAsking = !values.yes && process.stdin.isTTY === true
  if (isAsking) intro('A new MCP server')
  const folder =
    positionals[0] ??
    (isAsking
      ? await text({ message: 'In which folder?', placeholder: defaultFolder, defaultValue: defaultFolder })
      : defaultFolder)
  // Asked one after the other, because Ctrl-C at the first question must not ask the second.
  const template = isCancel(folder)
    ? folder
    : (values.template ??
      (isAsking
        ? await select({
            message: 'On which runtime?',
            options: [
              { value: 'node', label: 'Node', hint: 'HTTP and stdio' },
              { value: 'workerd', label: 'workerd', hint: 'the edge' },
            ],
          })
        : 'node'))
  if (isCancel(folder) || isCancel(template)) {
    cancel('Cancelled. No files were created.')
    return 130
  }
  const files = create({
    folder,
    template: isTemplate(template) ? template : 'node',
    ...(values.sluice && { sluice: values.sluice }),
  })
  const next = [`cd ${folder}`, 'npm install', 'npm test', 'npm start']
  if (isAsking) {
    note(next.join('\n'), 'Next')
    outro(`Created ${files.length} files. README.md explains them.`)
  } else process.stdout.write(`${files.join('\n')}\n\nNext: ${next.join(' && ')}\n`)
  return 0
}

const isTemplate = (name: string): name is Template => (templates as readonly string[]).includes(name)
