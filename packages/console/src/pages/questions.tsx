/** What the work of a ticket asked while it ran, and the answers, in order. Both are texts of strangers. */

import type { JSX } from 'preact'
import { readableAnswer } from '../../../sluice/src/approvals/text/readable.ts'
import type { Ticket } from '../../../sluice/src/operate/console/api.ts'
import { Code, countHidden, HiddenWarning, toLines } from '../code.tsx'
import { Chip } from '../ui.tsx'

type Asked = NonNullable<Ticket['questions']>[number]

export function Questions({ questions }: { readonly questions: readonly Asked[] }): JSX.Element {
  const shown = questions.map(({ question, answer }) => ({ question, ...readableAnswer(answer) }))
  const lines = shown.flatMap(({ question, text = '' }) => [...question.split('\n'), ...text.split('\n')])
  const hidden = lines.reduce((sum, line) => sum + countHidden(line), 0)
  return (
    <section class="block">
      <h3>Questions while it ran</h3>
      <p class="dim">The approval does not cover the answers.</p>
      <HiddenWarning count={hidden} />
      <ol class="questions">
        {shown.map(({ question, outcome, text }, at) => (
          <li key={String(at)}>
            <Code label={`Question ${at + 1}`} small>
              {toLines(question)}
            </Code>
            <p>
              <Chip tone={tones[outcome]}>{outcome}</Chip>
            </p>
            {text !== undefined && (
              <Code label={`Answer ${at + 1}`} small>
                {toLines(text)}
              </Code>
            )}
          </li>
        ))}
      </ol>
    </section>
  )
}

const tones = { answered: 'good', declined: 'bad', cancelled: 'bad', 'no answer yet': 'accent' } as const
