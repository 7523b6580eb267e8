/** `sluice console link`: a new sign-in link for the console that runs on this store. */

import { createConsole } from '@sluice/console'
import { CommandError, exitCodes, styled, toJson, wrapText } from '../output.ts'
import type { CommandContext } from './context.ts'
import type { StoreCommandOptions } from './with-store.ts'
import { withStore } from './with-store.ts'

const noConsole = 'No console has run on this data folder yet. Start it with sluice start.'
const answerTimeoutMs = 2_000

export const consoleLink = (context: CommandContext, options: StoreCommandOptions): Promise<number> =>
  withStore(context, options, async ({ store }) => {
    const link = await createConsole({ store })
      .link()
      .catch(() => {
        throw new CommandError(noConsole)
      })
    const { terminal } = context
    terminal.out(options.json ? toJson({ link }) : styled(terminal, 'cyan', link))
    if (!(await answers(link)))
      terminal.err(
        wrapText(
          terminal,
          `No console answers at ${new URL(link).origin}. Start it with sluice start, and then run this again.`,
        ),
      )
    return exitCodes.ok
  })

/** Whether a console listens there. The fragment with the token is not sent. */
const answers = (link: string): Promise<boolean> =>
  fetch(new URL('.', link), { signal: AbortSignal.timeout(answerTimeoutMs), redirect: 'manual' }).then(
    () => true,
    () => false,
  )
